/** An answer is checked by the rules of JSON Schema, including rules that `z.fromJSONSchema` ignores. */
import { describe, expect, test } from "vitest";
import { misfits } from "./output-schema.ts";

type Schema = Parameters<typeof misfits>[1];

describe("an answer fits", () => {
  test.for<{ schema: Schema; answer: string }>([
    { schema: { type: "object", required: ["a"], properties: { a: { type: "integer" } } }, answer: '{"a":1,"b":2}' },
    { schema: { type: "array", items: { type: "string" } }, answer: '  ["a"]\n' },
    { schema: { type: ["string", "null"] }, answer: "null" },
    { schema: { type: "object" }, answer: '```json\n{"a": 1}\n```' },
    { schema: { type: "object" }, answer: "```\n{}\n```" },
    {
      schema: { $ref: "#/$defs/n", $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" } } } } },
      answer: '{"next":{"next":{}}}',
    },
    {
      schema: { properties: { required: { type: "string" }, type: { const: "x" } } },
      answer: '{"required":"yes","type":"x"}',
    },
    { schema: { enum: ["required", "a"] }, answer: '"required"' },
    { schema: {}, answer: "0" },
  ])("$answer", ({ schema, answer }) => {
    expect(misfits(answer, schema)).toEqual([]);
  });
});

const person: Schema = {
  type: "object",
  properties: { name: { type: "string" }, pets: { type: "array", items: { enum: ["cat", "dog"] } } },
  required: ["name"],
  additionalProperties: false,
};

describe("an answer that does not fit gets path and expectation of each problem:", () => {
  test.for<{ schema: Schema; answer: string; problem: string | RegExp }>([
    { schema: person, answer: "Here it is: {}", problem: /^the answer is not JSON: / },
    { schema: person, answer: "", problem: /^the answer is not JSON: / },
    { schema: person, answer: "[]", problem: "the answer at its top: expected object, received array" },
    { schema: person, answer: "{}", problem: "the answer at name: expected string, received undefined" },
    {
      schema: person,
      answer: '{"name":"a","pets":["cow"]}',
      problem: 'the answer at pets.0: expected one of "cat"|"dog"',
    },
    { schema: person, answer: '{"name":"a","age":1}', problem: 'the answer at its top: Unrecognized key: "age"' },
    {
      schema: { type: ["string", "null"] },
      answer: "1",
      problem: "the answer at its top: expected string, received number, or expected null, received number",
    },
    {
      schema: { anyOf: [person, { type: "null" }] },
      answer: '{"name":1}',
      problem: "the answer at name: expected string, received number",
    },
    {
      schema: { type: "object", required: ["x"] },
      answer: "{}",
      problem: "the answer at x: expected a value, received undefined",
    },
    { schema: { required: ["x"] }, answer: "{}", problem: /^the answer at x: / },
    { schema: { allOf: [{ required: ["x"] }] }, answer: "{}", problem: /^the answer at x: / },
    { schema: { properties: { a: { minLength: 3 } } }, answer: '{"a":"ab"}', problem: /^the answer at a: Too small/ },
    { schema: { items: { minimum: 3 } }, answer: "[1]", problem: /^the answer at 0: Too small/ },
    {
      schema: { not: { type: "string" } },
      answer: '"a"',
      problem: /^the answer cannot be checked against its schema: /,
    },
    { schema: { type: "objekt" }, answer: "{}", problem: /^the answer cannot be checked against its schema: / },
    { schema: { $ref: "https://example.com/schema" }, answer: "{}", problem: /^the answer cannot be checked/ },
  ])("$answer against $schema", ({ schema, answer, problem }) => {
    const [first] = misfits(answer, schema);
    if (typeof problem === "string") expect(first).toBe(problem);
    else expect(first).toMatch(problem);
  });
});

test("reports only the first of many problems", () => {
  const answer = JSON.stringify(Array.from({ length: 100 }, () => "x"));
  const problems = misfits(answer, { type: "array", items: { type: "number" } });
  expect(problems).toHaveLength(11);
  expect(problems.at(-1)).toBe("and 90 more problems of the answer");
});

test("a pattern that runs forever is stopped, and the check fails", () => {
  const answer = JSON.stringify(`${"a".repeat(40)}!`);
  expect(misfits(answer, { type: "string", pattern: "^(a+)+$" })).toEqual([
    "the answer cannot be checked against its schema: checking it took longer than 500 ms",
  ]);
});
