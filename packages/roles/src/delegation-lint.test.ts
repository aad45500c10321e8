import { describe, expect, test } from "vitest";
import { assembleRegistry } from "./agent-registry.ts";
import { type AgentOrigin, parseAgent } from "./parse-agent.ts";

// Delegation between the agents of a registry. agent-source.test.ts tests cycles and unknown targets with real files.

type File = [id: string, troupe: string, targets?: string];

function registryOf(files: File[], origin: AgentOrigin = "project") {
  const agents = files.map(([id, troupe, targets = ""]) => {
    const text = `---\nname: ${id}\ndescription: d\ntroupe: {${troupe}}\nsubagents: {allow: [${targets}]}\n---\nx`;
    return parseAgent({ path: `${id}.md`, origin, text });
  });
  return assembleRegistry([{ agents, problems: [] }]);
}

function problemsOf(files: File[], origin?: AgentOrigin): string[] {
  return registryOf(files, origin).problems.map(
    ({ path, severity, line, column, code }) => `${path} ${severity} ${line}:${column} ${code}`,
  );
}

describe("disabled agents", () => {
  test("stay in the list, marked as disabled", () => {
    const { agents, problems, find } = registryOf([["a", "disabled: true"]]);
    expect(agents).toMatchObject([{ id: "a", disabled: true }]);
    expect(find("a")).toMatchObject({ disabled: true });
    expect(problems).toEqual([]);
  });

  test("named as a target, are a warning with its place", () => {
    const files: File[] = [
      ["top", "", "off"],
      ["off", "disabled: true"],
    ];
    expect(problemsOf(files)).toEqual(["top.md warning 5:21 disabled-target"]);
    expect(registryOf(files).problems[0]).toMatchObject({
      message: 'top may delegate to "off", which is disabled',
      fix: "remove off, or remove disabled: true from its file",
    });
  });

  test("named by a shipped agent cause no warning: the user cannot change its list", () => {
    expect(
      problemsOf(
        [
          ["top", "", "off"],
          ["off", "disabled: true"],
        ],
        "builtin",
      ),
    ).toEqual([]);
  });

  test("close no cycle, because they never run", () => {
    expect(
      problemsOf([
        ["a", "", "b"],
        ["b", "disabled: true", "a"],
      ]),
    ).toEqual(["a.md warning 5:21 disabled-target"]);
    expect(
      registryOf([
        ["a", "", "b"],
        ["b", "disabled: true", "a"],
      ]).agents,
    ).toHaveLength(2);
  });

  test("are refused all the same if they name themselves", () => {
    expect(problemsOf([["a", "disabled: true", "a"]])).toEqual(["a.md error 5:21 self-reference"]);
  });
});

describe("alternatives", () => {
  const table: [name: string, files: File[], problems: string[]][] = [
    [
      "an alternative that a parent may use",
      [
        ["p", "", "a, b"],
        ["a", "retry: {alternative: b}"],
        ["b", ""],
      ],
      [],
    ],
    [
      "an alternative that only another parent may use",
      [
        ["p", "", "a"],
        ["q", "", "a, b"],
        ["a", "retry: {alternative: b}"],
        ["b", ""],
      ],
      [],
    ],
    [
      "of an agent without a parent",
      [
        ["a", "retry: {alternative: b}"],
        ["b", ""],
      ],
      [],
    ],
    [
      "an alternative that no parent may use",
      [
        ["p", "", "a"],
        ["a", "retry: {alternative: b}"],
        ["b", ""],
      ],
      ["a.md warning 4:31 unreachable-alternative"],
    ],
    [
      "an unknown alternative",
      [
        ["p", "", "a"],
        ["a", "retry: {alternative: missing}"],
      ],
      ["a.md warning 4:31 unknown-alternative"],
    ],
    [
      "a disabled alternative",
      [
        ["p", "", "a"],
        ["a", "retry: {alternative: b}"],
        ["b", "disabled: true"],
      ],
      ["a.md warning 4:31 disabled-alternative"],
    ],
    [
      "an alternative with an invalid file",
      [
        ["a", "retry: {alternative: b}"],
        ["b", "temperature: 9"],
      ],
      ["b.md error 4:23 invalid-value", "a.md warning 4:31 unusable-alternative"],
    ],
  ];

  test.each(table)("%s", (_name, files, problems) => {
    expect(problemsOf(files)).toEqual(problems);
  });

  test("the message names the parents, and suggests a correction for a misspelt one", () => {
    const unreachable = registryOf([
      ["p", "", "a"],
      ["q", "", "a"],
      ["a", "retry: {alternative: b}"],
      ["b", ""],
    ]);
    expect(unreachable.problems[0]?.message).toBe(
      'the alternative of a is "b", but no parent of a (p, q) may delegate to b',
    );
    const misspelt = registryOf([
      ["a", "retry: {alternative: helpr}"],
      ["helper", ""],
    ]);
    expect(misspelt.problems[0]?.fix).toBe("did you mean helper?");
  });
});
