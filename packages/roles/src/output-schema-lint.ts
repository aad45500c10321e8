import { didYouMean, nearestNames } from "@troupe/core/internal";
import { z } from "zod";
import { formatValue, type ProblemReport } from "./problem-report.ts";
import { constrainingKeywords, hasShape, schemaKeywords, schemaTypes, shapes } from "./schema-keywords.ts";
import { type Field, isMapping } from "./yaml-fields.ts";

type JsonSchema = Record<string, unknown>;
type Path = readonly PropertyKey[];

/** A schema and its path below the field. */
interface SchemaAtPath {
  schema: unknown;
  path: Path;
}

interface SchemaLint {
  field: Field;
  report: ProblemReport;
  root: JsonSchema;
}

const nestingMax = 32;
/** The largest number of schemas that one value is checked against through references and choices. */
const choicesMax = 1_000;

/**
 * Lints the JSON Schema of an agent's answers. A part that could not be checked, such as `properties` without
 * `type: object`, is an error.
 */
export function lintOutputSchema(schema: JsonSchema, field: Field, report: ProblemReport): void {
  const lint: SchemaLint = { field, report, root: schema };
  const path: Path = ["outputSchema"];
  if (!constrainingKeywords.some((keyword) => Object.hasOwn(schema, keyword))) {
    const message = `${nameOf(path)} does not describe the answer: it has no type and no properties`;
    reportError(lint, path, message, "start with type: object, and describe the keys of the answer below properties:");
  }
  lintSchema({ schema, path }, 0, lint);
  const failure = report.failed ? null : failureOf(schema);
  if (failure === null) return;
  const fix = "rewrite the schema or remove it: troupe cannot check answers against it";
  reportError(lint, path, `${nameOf(path)} cannot be used: ${failure}`, fix);
}

function lintSchema({ schema, path }: SchemaAtPath, nesting: number, lint: SchemaLint): void {
  if (typeof schema === "boolean") return;
  if (!isMapping(schema)) {
    const [type = "string"] = nearestNames(String(schema), schemaTypes, 1);
    reportError(
      lint,
      path,
      `${nameOf(path)} is ${formatValue(schema)}; expected a schema`,
      `write {type: ${type}} instead`,
    );
    return;
  }
  if (nesting > nestingMax) {
    reportError(
      lint,
      path,
      `${nameOf(path)} is nested more than ${nestingMax} schemas deep`,
      "use fewer levels in the answer",
    );
    return;
  }
  lintReference(schema, path, lint);
  if (choicesOf(schema, lint.root) > choicesMax) {
    const message = `${nameOf(path)} refers to more than ${choicesMax} schemas for one value`;
    reportError(lint, path, message, "use fewer references, and no reference that leads directly back to itself");
    return;
  }
  for (const keyword of Object.keys(schema)) lintKeyword(keyword, schema, path, lint);
  lintTypes(schema, path, lint);
  lintRequired(schema, path, lint);
  for (const below of schemasBelow(schema, path)) lintSchema(below, nesting + 1, lint);
}

const usableKeywords = Object.keys(schemaKeywords).filter((keyword) => schemaKeywords[keyword]?.shape !== "unusable");

function lintKeyword(keyword: string, schema: JsonSchema, path: Path, lint: SchemaLint): void {
  const known = Object.hasOwn(schemaKeywords, keyword) ? schemaKeywords[keyword] : undefined;
  const at = [...path, keyword];
  if (known === undefined) {
    const fix = didYouMean(keyword, usableKeywords);
    if (fix === null) return;
    lint.report.warn(lint.field.keyOffsetOf(at), {
      code: "unknown-keyword",
      message: `${nameOf(at)} is not a keyword of JSON Schema; it has no effect`,
      fix,
    });
    return;
  }
  const value = schema[keyword];
  if (known.shape === "unusable") {
    const fix = "remove it, and describe the rule in the prompt";
    reportError(lint, at, `${nameOf(at)} is not supported: troupe could not check it`, fix);
  } else if (!hasShape(value, known.shape)) {
    const expected = shapes[known.shape];
    reportError(
      lint,
      at,
      `${nameOf(at)} is ${formatValue(value)}; expected ${expected.name}`,
      `write ${keyword}: ${expected.example}`,
    );
  } else if (known.appliesTo !== undefined && !typesOf(schema).includes(known.appliesTo)) {
    const message = `${nameOf(at)} has no effect: its schema is not of type ${known.appliesTo}`;
    reportError(lint, at, message, `add type: ${known.appliesTo} to the same schema, or remove ${keyword}`);
  }
}

function lintTypes(schema: JsonSchema, path: Path, lint: SchemaLint): void {
  if (!Object.hasOwn(schema, "type")) return;
  const at = [...path, "type"];
  const given = Array.isArray(schema.type) && schema.type.length > 0 ? schema.type : [schema.type];
  for (const type of given.filter((name) => !schemaTypes.includes(name))) {
    const message = `${nameOf(at)} is ${formatValue(type)}; expected one of ${schemaTypes.join(", ")}`;
    reportError(lint, at, message, didYouMean(String(type), schemaTypes) ?? "write one of these, such as type: string");
  }
}

/** The types of a schema. `integer` counts as a number. */
function typesOf({ type }: JsonSchema): unknown[] {
  return (Array.isArray(type) ? type : [type]).map((name) => (name === "integer" ? "number" : name));
}

/** A required key without a description would not be checked. */
function lintRequired({ required, properties }: JsonSchema, path: Path, lint: SchemaLint): void {
  if (!Array.isArray(required)) return;
  const described = isMapping(properties) ? Object.keys(properties) : [];
  for (const [i, key] of required.entries()) {
    if (described.includes(key)) continue;
    const message = `${nameOf([...path, "required"])} names ${formatValue(key)}, which is not in properties`;
    const fix = didYouMean(String(key), described) ?? "describe it below properties:, or remove it";
    reportError(lint, [...path, "required", i], message, fix);
  }
}

function schemasBelow(schema: JsonSchema, path: Path): SchemaAtPath[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const shape = Object.hasOwn(schemaKeywords, keyword) ? schemaKeywords[keyword]?.shape : undefined;
    const at = [...path, keyword];
    if (shape === "schema") return [{ schema: value, path: at }];
    if (shape === "schemas by name" && isMapping(value)) {
      return Object.entries(value).map(([key, below]) => ({ schema: below, path: [...at, key] }));
    }
    if (shape === "list of schemas" && Array.isArray(value)) {
      return value.map((below, i) => ({ schema: below, path: [...at, i] }));
    }
    return [];
  });
}

function lintReference({ $ref }: JsonSchema, path: Path, lint: SchemaLint): void {
  if (typeof $ref !== "string" || targetOf($ref, lint.root) !== undefined) return;
  const message = `${nameOf([...path, "$ref"])} is ${formatValue($ref)}, which does not exist`;
  reportError(
    lint,
    [...path, "$ref"],
    message,
    "refer to #/$defs/NAME, and describe NAME below $defs: of outputSchema",
  );
}

/** Counts the schemas that one value is checked against. A reference that leads directly back to itself has no end. */
function choicesOf(schema: unknown, root: JsonSchema): number {
  let choices = 0;
  const count = (at: unknown): void => {
    choices += 1;
    if (choices > choicesMax || !isMapping(at)) return;
    if (typeof at.$ref === "string") count(targetOf(at.$ref, root));
    for (const list of [at.anyOf, at.oneOf, at.allOf]) if (Array.isArray(list)) for (const one of list) count(one);
  };
  count(schema);
  return choices;
}

function targetOf(reference: string, root: JsonSchema): unknown {
  if (reference === "#") return root;
  const [, key = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const named = root[key];
  return isMapping(named) && Object.hasOwn(named, name) ? named[name] : undefined;
}

/** The reason why zod cannot use a schema that passed all other checks. */
function failureOf(schema: JsonSchema): string | null {
  try {
    // A separate registry, because zod's global registry would keep the ids of the schemas.
    z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema, { registry: z.registry() });
    return null;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return message.charAt(0).toLowerCase() + message.slice(1);
  }
}

function reportError({ field, report }: SchemaLint, path: Path, message: string, fix: string): void {
  report.error(field.offsetOf(path), { code: "invalid-schema", message, fix });
}

function nameOf(path: Path): string {
  return ["troupe", ...path].join(".");
}
