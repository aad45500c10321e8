import { describe, expect, test } from "vitest";
import { cpuMsOf } from "./cpu-time.test-helper.ts";
import { parseAgent } from "./parse-agent.ts";

// Parts of an output schema that troupe could not check must be reported.

/** A file whose schema begins at line 5, column 17. */
function parse(schema: string) {
  const text = `---\nname: a\ndescription: d\ntroupe:\n  outputSchema: ${schema}\n---\nDo it.`;
  return parseAgent({ path: "a.md", origin: "project", text });
}

describe("valid schemas", () => {
  test.each([
    "{type: object, properties: {ok: {type: boolean}, notes: {type: array, items: {type: string}}}, required: [ok]}",
    "{type: object, additionalProperties: false, required: []}",
    "{type: [object, 'null'], properties: {}}",
    "{type: integer, minimum: 0, exclusiveMaximum: 10}",
    "{enum: [keep, drop]}",
    "{const: 1}",
    "{anyOf: [{type: string}, {type: object, patternProperties: {'^x': true}}]}",
    "{type: string, pattern: '^[a-z]+$', x-note: free, title: A word, examples: [a]}",
    "{$ref: '#/$defs/node', $defs: {node: {type: object, properties: {next: {$ref: '#/$defs/node'}}}}}",
    "{type: array, items: {$ref: '#'}}",
  ])("%s", (schema) => {
    const { definition, problems } = parse(schema);
    expect(problems).toEqual([]);
    expect(definition?.outputSchema).toBeTruthy();
  });
});

describe("invalid schemas", () => {
  const table: [schema: string, column: number, message: string, fix: string][] = [
    ["{}", 17, "does not describe the answer", "start with type: object"],
    ["{description: a list}", 17, "does not describe the answer", "start with type: object"],
    ["{properties: {a: {type: string}}}", 30, "properties has no effect", "add type: object to the same schema"],
    ["{type: string, properties: {}}", 44, "properties has no effect", "add type: object to the same schema"],
    ["{type: strng}", 24, 'type is "strng"', "did you mean string?"],
    ["{type: [object, nul]}", 24, 'type is "nul"', "did you mean null?"],
    ["{type: 7}", 24, "type is 7", "write one of these"],
    ["{type: []}", 24, "type is []", "write one of these"],
    ["{type: object, properties: {a: bool}}", 48, 'properties.a is "bool"', "write {type: string} instead"],
    ["{type: object, properties: {a: integr}}", 48, 'properties.a is "integr"', "write {type: integer} instead"],
    ["{type: object, properties: [a]}", 44, 'properties is ["a"]', "write properties: {a: {type: string}}"],
    ["{type: array, items: [a]}", 38, 'items is ["a"]', "write {type: string} instead"],
    ["{type: object, required: a}", 42, 'required is "a"', "write required: [a, b]"],
    ["{type: object, required: [nme], properties: {name: true}}", 43, 'required names "nme"', "did you mean name?"],
    ["{type: object, required: [name]}", 43, 'required names "name"', "describe it below properties:"],
    ["{type: array, minItems: '3'}", 41, 'minItems is "3"', "write minItems: 1"],
    ["{type: string, pattern: '('}", 41, 'pattern is "("', "write pattern:"],
    ["{anyOf: []}", 25, "anyOf is []", "write anyOf: [{type: string}"],
    ["{anyOf: [string]}", 26, 'anyOf.0 is "string"', "write {type: string} instead"],
    ["{type: string, not: {}}", 37, "not is not supported", "remove it"],
    ["{type: array, items: {if: {}, type: string}}", 43, "items.if is not supported", "remove it"],
    ["{$ref: '#/$defs/a'}", 24, '$ref is "#/$defs/a", which does not exist', "describe NAME below $defs:"],
    ["{$ref: 'http://x/y'}", 24, "which does not exist", "describe NAME below $defs:"],
    ["{$ref: '#/$defs/constructor', $defs: {}}", 24, "which does not exist", "describe NAME below $defs:"],
    ["{$ref: '#'}", 17, "refers to more than 1000 schemas", "leads directly back to itself"],
    ["{$ref: '#/$defs/a', $defs: {a: {anyOf: [{$ref: '#/$defs/a'}]}}}", 17, "more than 1000 schemas", "back to itself"],
    [
      "{type: object, patternProperties: {'(': true}}",
      17,
      "cannot be used: invalid regular expression",
      "rewrite the schema",
    ],
  ];

  test.each(table)("%s", (schema, column, message, fix) => {
    const { definition, problems } = parse(schema);
    expect(definition).toBeNull();
    expect(problems[0]).toMatchObject({ severity: "error", code: "invalid-schema", line: 5, column });
    expect(problems[0]?.message).toContain(message);
    expect(problems[0]?.message).toContain("troupe.outputSchema");
    expect(problems[0]?.fix).toContain(fix);
  });

  test("one that is nested too deeply", () => {
    const nested = (depth: number): string => `${"{type: array, items: ".repeat(depth)}true${"}".repeat(depth)}`;
    expect(parse(nested(32)).problems).toEqual([]);
    expect(parse(nested(34)).problems).toMatchObject([
      { code: "invalid-schema", fix: "use fewer levels in the answer" },
    ]);
  });
});

test("a misspelt keyword is a warning, because it has no effect", () => {
  const { definition, problems } = parse("{type: object, propertes: {a: {type: string}}}");
  expect(definition).not.toBeNull();
  expect(problems).toMatchObject([
    { severity: "warning", code: "unknown-keyword", line: 5, column: 32, fix: "did you mean properties?" },
  ]);
});

const doubling = Array.from(
  { length: 40 },
  (_, i) => `a${i}: {anyOf: [{$ref: '#/$defs/a${i + 1}'}, {$ref: '#/$defs/a${i + 1}'}]}`,
);
test.each([
  ["references that double", `{$ref: '#/$defs/a0', $defs: {${doubling.join(", ")}, a40: {type: string}}}`],
  ["nesting", `${"{type: array, items: ".repeat(1_200)}true${"}".repeat(1_200)}`],
  ["nesting of values that are not schemas", `{type: object, x: ${"{a: ".repeat(1_400)}.inf${"}".repeat(1_400)}}`],
  [
    "many schemas",
    `{type: object, properties: {${Array.from({ length: 1_500 }, (_, i) => `p${i}: {type: no}`).join(", ")}}}`,
  ],
])("a hostile schema of %s is refused within a second", (_name, schema) => {
  expect(cpuMsOf(() => expect(parse(schema).definition).toBeNull())).toBeLessThan(1_000);
});
