import { TroupeError } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { parseScenario } from "./parse-scenario.ts";

const valid = `name: small
description: For tests.
agents:
  main:
    - steps:
        - text: hello
`;

test("what a scenario leaves out has defaults", () => {
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
    what: "a missing field, at what it is missing from",
    text: valid.replace("description: For tests.\n", ""),
    message: /line 1: description: Invalid input/,
    fix: "correct line 1 of bad.yaml",
  },
  {
    what: "a value of the wrong type",
    text: valid.replace("- text: hello", "- text: hello\n          latencyMs: soon"),
    message: /line 7: agents\.main\.0\.steps\.0\.latencyMs: Invalid input/,
    fix: "correct line 7 of bad.yaml",
  },
  {
    what: "a template that is none",
    text: valid.replace("hello", '"{{result.0.details}}"'),
    message: /line 6: .*text: \{\{result\.0\.details\}\} is no template; there are \{\{task\}\}/,
    fix: "correct line 6 of bad.yaml",
  },
  {
    what: "such a template in the depth of some arguments",
    text: valid.replace("text: hello", 'calls: [{ tool: read, args: { a: [{ b: "{{Task}}" }] } }]'),
    message: /line 6: .*calls\.0\.args: \{\{Task\}\} is no template/,
    fix: "correct line 6 of bad.yaml",
  },
  {
    what: "a regular expression that is none",
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
    what: "a fault that is none",
    text: valid.replace("text: hello", "text: hello\n          faults:\n            - { message: no }"),
    message: /line 8: .*faults\.0: a fault needs delayMs or one of/,
    fix: "correct line 8 of bad.yaml",
  },
  {
    what: "an agent's name that could not be one",
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

test("of many problems the first three are told, and how many there are", () => {
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
