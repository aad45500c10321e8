import vm from "node:vm";
import { parseJsonAnswer } from "@troupe/core/internal";
import { z } from "zod";
import { isTimeout, runLimited } from "./run-limited.ts";

type JsonSchema = Record<string, z.core.util.JSONType>;

/** A hostile pattern in a schema can run forever, so a check that takes longer fails. */
const checkMsMax = 500;

const problemsShown = 10;

/**
 * Checks an answer against a JSON Schema. Returns a line for each problem, with path and expectation; none if it fits.
 * With an unusable schema every answer fails.
 *
 * @example
 * misfits('{"count":"two"}', { type: "object", properties: { count: { type: "integer" } } });
 * // ["the answer at count: expected integer, received string"]
 */
export function misfits(answer: string, schema: JsonSchema): string[] {
  const value = parseJsonAnswer(answer);
  if (value === undefined) return ["the answer is not JSON: reply with one JSON value and nothing else"];
  try {
    return inTime(() => check(value, schema));
  } catch (error) {
    return [`the answer cannot be checked against its schema: ${failureOf(error)}`];
  }
}

function failureOf(error: unknown): string {
  if (isTimeout(error)) return `checking it took longer than ${checkMsMax} ms`;
  return error instanceof Error ? error.message : String(error);
}

function check(value: unknown, schema: JsonSchema): string[] {
  const result = z.fromJSONSchema(explicit(schema) as JsonSchema).safeParse(value);
  if (result.success) return [];
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, []));
  const more = problems.length - problemsShown;
  return [...problems.slice(0, problemsShown), ...(more > 0 ? [`and ${more} more problems of the answer`] : [])];
}

/** Runs `act` with a timeout. Only the engine's own timeout can stop a regular expression. */
function inTime<T>(act: () => T): T {
  return runLimited(checkMsMax, (timeout) => vm.runInNewContext("act()", { act }, { timeout }) as T);
}

function problemsOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): string[] {
  const path = [...above, ...issue.path];
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [problem(path, issue.message)];
  // The alternative that matched deepest is probably the intended one.
  const depthOf = (issues: readonly z.core.$ZodIssue[]): number =>
    Math.max(0, ...issues.map((each) => each.path.length));
  const deepest = issue.errors.reduce((best, issues) => (depthOf(issues) > depthOf(best) ? issues : best));
  if (depthOf(deepest) > 0) return deepest.flatMap((inner) => problemsOf(inner, path));
  return [problem(path, issue.errors.map(([first]) => wordsOf(first?.message ?? issue.message)).join(", or "))];
}

function problem(path: readonly PropertyKey[], message: string): string {
  return `the answer at ${path.length > 0 ? path.join(".") : "its top"}: ${wordsOf(message)}`;
}

function wordsOf(message: string): string {
  return message.replace(/^Invalid \w+: /, "").replace("expected nonoptional", "expected a value");
}

/** The type that each schema keyword applies to. */
const typeOfKeyword: Readonly<Record<string, string>> = {
  properties: "object",
  required: "object",
  additionalProperties: "object",
  patternProperties: "object",
  propertyNames: "object",
  minProperties: "object",
  maxProperties: "object",
  items: "array",
  prefixItems: "array",
  contains: "array",
  minItems: "array",
  maxItems: "array",
  uniqueItems: "array",
  minLength: "string",
  maxLength: "string",
  pattern: "string",
  format: "string",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "number",
};

/** Keywords whose values map names to schemas. */
const schemasByName = new Set(["properties", "patternProperties", "$defs", "definitions"]);
/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(["const", "enum", "default", "examples", "required"]);

/**
 * Adds to a schema what `z.fromJSONSchema` would otherwise ignore: the type that its keywords imply, and a property for
 * each required name.
 */
function explicit(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(explicit);
  if (typeof schema !== "object" || schema === null) return schema;
  const result = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (dataKeywords.has(key)) return [key, value];
      return [key, schemasByName.has(key) ? mapValues(value, explicit) : explicit(value)];
    }),
  );
  return withRequired(withType(result));
}

function withType(schema: Record<string, unknown>): Record<string, unknown> {
  if ("type" in schema) return schema;
  const keyword = Object.keys(schema).find((key) => Object.hasOwn(typeOfKeyword, key));
  return keyword === undefined ? schema : { ...schema, type: typeOfKeyword[keyword] };
}

function withRequired(schema: Record<string, unknown>): Record<string, unknown> {
  const { required, properties = {} } = schema;
  if (!Array.isArray(required)) return schema;
  const named = Object.fromEntries(required.map((name) => [name, {}]));
  return { ...schema, properties: { ...named, ...(properties as object) } };
}

function mapValues(value: unknown, change: (inner: unknown) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner)]));
}
