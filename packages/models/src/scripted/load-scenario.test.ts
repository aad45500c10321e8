import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TroupeError } from "@troupe/core";
import { test as base, describe, expect } from "vitest";
import { createScenarioLoader, listScenarios, loadScenario, parseScenario } from "./load-scenario.ts";

const test = base.extend<{ folder: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  folder: async ({}, use) => {
    await using made = await mkdtempDisposable(join(tmpdir(), "troupe-scenarios-"));
    await use(made.path);
  },
});

const yamlOf = (name: string) => `{ name: ${name}, description: d, agents: { main: [{ steps: [{ text: hi }] }] } }`;

test("the shipped scenarios are found by name, and each has the name of its file", async () => {
  const names = await listScenarios();
  expect(names).toContain("demo");
  for (const name of names) expect((await loadScenario(name)).name).toBe(name);
});

test("a scenario is found by name in the folders, the first of them first, or by path", async ({ folder }) => {
  await using other = await mkdtempDisposable(join(tmpdir(), "troupe-scenarios-"));
  await writeFile(join(folder, "mine.yaml"), yamlOf("first"));
  await writeFile(join(other.path, "mine.yml"), yamlOf("second"));

  expect((await loadScenario("mine", { folders: [folder, other.path] })).name).toBe("first");
  expect((await loadScenario("mine", { folders: [other.path, folder] })).name).toBe("second");
  expect((await loadScenario(join(other.path, "mine.yml"), { folders: [] })).name).toBe("second");
});

test.for(["nothing", "../mine", "/no/such/file.yaml", "mine.yaml", "", "no name"])(
  "an unknown scenario (%j) is refused with the known names",
  async (name, { folder }) => {
    await writeFile(join(folder, "mine.yaml"), yamlOf("mine"));
    await writeFile(join(folder, "yours.yml"), yamlOf("yours"));
    await expect(loadScenario(name, { folders: [folder, join(folder, "gone")] })).rejects.toMatchObject({
      code: "UNKNOWN_SCENARIO",
      message: `there is no scenario ${JSON.stringify(name)}; known scenarios: mine, yours`,
      fix: expect.stringContaining("path of a scenario file"),
    });
  },
);

test("a file is read again when it has changed, and only then", async ({ folder }) => {
  const load = createScenarioLoader({ folders: [folder] });
  await writeFile(join(folder, "mine.yaml"), yamlOf("before"));
  const before = await load("mine");

  expect(await load("mine")).toBe(before);
  await writeFile(join(folder, "mine.yaml"), yamlOf("afterwards"));
  expect((await load("mine")).name).toBe("afterwards");
});

const valid = `name: small
description: For tests.
agents:
  main:
    - steps:
        - text: hello
`;

test("missing fields of a scenario have defaults", () => {
  expect(parseScenario(valid, "small.yaml")).toEqual({
    name: "small",
    description: "For tests.",
    demo: false,
    price: { inputPerMillion: 0, outputPerMillion: 0 },
    agents: {
      main: [{ when: {}, steps: [{ latencyMs: 0, text: "hello", deltas: { everyMs: 60 }, calls: [], repeat: false }] }],
    },
  });
});

const bomb = `${"a: &a [x, x, x, x, x, x, x, x, x]\n"}${"bcdefghi"
  .split("")
  .map((name, i) => `${name}: &${name} [${`*${"abcdefgh"[i]}, `.repeat(9)}]`)
  .join("\n")}\n`;

const cases: { what: string; text: string; message: RegExp; fix: string }[] = [
  {
    what: "YAML that cannot be parsed",
    text: valid.replace("text: hello", "text: [hello"),
    message: /^bad\.yaml is not a scenario: line \d: /,
    fix: "correct line",
  },
  {
    what: "a key that is there twice",
    text: `${valid}name: twice\n`,
    message: /line 7: Map keys must be unique/,
    fix: "correct line 7 of bad.yaml",
  },
  {
    what: "an unknown field",
    text: valid.replace("text: hello", "txt: hello"),
    message: /line 6: agents\.main\.0\.steps\.0: .*"txt"/,
    fix: "correct line 6 of bad.yaml",
  },
  {
    what: "a missing field, at its parent",
    text: valid.replace("description: For tests.\n", ""),
    message: /line 1: description: Invalid input/,
    fix: "correct line 1 of bad.yaml",
  },
  {
    what: "a value of the wrong type",
    text: valid.replace("- text: hello", "- text: hello\n          latencyMs: soon"),
    message: /line 7: agents\.main\.0\.steps\.0\.latencyMs: "soon" is not a duration; expected milliseconds/,
    fix: "correct line 7 of bad.yaml",
  },
  {
    what: "an invalid template",
    text: valid.replace("hello", '"{{result.0.details}}"'),
    message: /line 6: .*text: \{\{result\.0\.details\}\} is not a template; use \{\{task\}\}/,
    fix: "correct line 6 of bad.yaml",
  },
  {
    what: "such a template in the depth of some arguments",
    text: valid.replace("text: hello", 'calls: [{ tool: read, args: { a: [{ b: "{{Task}}" }] } }]'),
    message: /line 6: .*calls\.0\.args: \{\{Task\}\} is not a template/,
    fix: "correct line 6 of bad.yaml",
  },
  {
    what: "an invalid regular expression",
    text: valid.replace("- steps:", '- when: { task: "/(/" }\n      steps:'),
    message: /line 5: agents\.main\.0\.when\.task: not a regular expression/,
    fix: "correct line 5 of bad.yaml",
  },
  {
    what: "a step that repeats before the end",
    text: `${valid.replace("text: hello", "{ text: hello, repeat: true }")}        - text: bye\n`,
    message: /line 6: .*steps\.0\.repeat: only the last step can repeat/,
    fix: "correct line 6 of bad.yaml",
  },
  {
    what: "a step with nothing in it",
    text: valid.replace("text: hello", "latencyMs: 5"),
    message: /line 6: .*a step needs text, calls or error/,
    fix: "correct line 6 of bad.yaml",
  },
  {
    what: "a step that fails and makes calls",
    text: valid.replace("text: hello", "{ calls: [{ tool: read }], error: { type: network, message: gone } }"),
    message: /line 6: .*a step that fails cannot make calls/,
    fix: "correct line 6 of bad.yaml",
  },
  {
    what: "a call with arguments of both sorts",
    text: valid.replace("text: hello", "calls: [{ tool: read, args: { a: 1 }, rawArgs: x }]"),
    message: /line 6: .*calls\.0: a call has args or rawArgs, not both/,
    fix: "correct line 6 of bad.yaml",
  },
  {
    what: "a fault without a place",
    text: valid.replace(
      "text: hello",
      "text: hello\n          faults:\n            - { status: 429 }\n            - { cut: {} }",
    ),
    message: /line 9: agents\.main\.0\.steps\.0\.faults\.1\.cut\.afterPieces: /,
    fix: "correct line 9 of bad.yaml",
  },
  {
    what: "an invalid fault",
    text: valid.replace("text: hello", "text: hello\n          faults:\n            - { message: no }"),
    message: /line 8: .*faults\.0: a fault needs delayMs or one of/,
    fix: "correct line 8 of bad.yaml",
  },
  {
    what: "an invalid agent name",
    text: valid.replace("main:", "a.b:"),
    message: /line 4: agents\.a\.b: Invalid key/,
    fix: "correct line 4 of bad.yaml",
  },
  {
    what: "aliases that grow into a bomb",
    text: bomb,
    message: /Excessive alias count/,
    fix: "correct bad.yaml",
  },
  { what: "an empty file", text: "", message: /line 1: Invalid input/, fix: "correct line 1 of bad.yaml" },
  { what: "two documents", text: `${valid}---\n${valid}`, message: /multiple documents/, fix: "correct line 7" },
];

describe("a bad scenario file is refused with the place and the fix:", () => {
  test.for(cases)("$what", ({ text, message, fix }) => {
    const error = thrownBy(() => parseScenario(text, "bad.yaml"));
    expect(error.code).toBe("INVALID_SCENARIO");
    expect(error.message).toMatch(message);
    expect(error.fix).toContain(fix);
  });
});

test("of many problems the first three are reported, with the number of the others", () => {
  const text = valid.replace("- text: hello", "- a: 1\n        - b: 2\n        - c: 3\n        - d: 4");
  expect(thrownBy(() => parseScenario(text, "bad.yaml")).message).toMatch(
    /line 6: .*line 7: .*line 8: .* \(and \d more\)$/,
  );
});

function thrownBy(act: () => unknown): TroupeError {
  try {
    act();
  } catch (error) {
    if (TroupeError.is(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
