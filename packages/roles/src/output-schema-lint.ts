import { z } from "zod";
import { nearest } from "./nearest.ts";
import { type Report, show } from "./report.ts";
import { hasShape, schemaKeywords, schemaTypes, shapes, tellingKeywords } from "./schema-keywords.ts";
import { type Field, isMapping } from "./yaml-fields.ts";

type JsonSchema = Record<string, unknown>;
type Path = readonly PropertyKey[];

/** A schema, and where it stands below the field. */
interface Placed {
  schema: unknown;
  path: Path;
}

interface Look {
  field: Field;
  report: Report;
  root: JsonSchema;
}

const nestingMax = 32;
/** Schemas that one value may have to be held against, by references and choices alone. */
const choicesMax = 1_000;

/**
 * Looks at the JSON Schema of an agent's answers: whether an answer can be held to all of it. What would be passed over
 * in silence, such as `properties` without `type: object`, is an error here.
 */
export function lintOutputSchema(schema: JsonSchema, field: Field, report: Report): void {
  const look: Look = { field, report, root: schema };
  const path: Path = ["outputSchema"];
  if (!tellingKeywords.some((keyword) => Object.hasOwn(schema, keyword))) {
    const message = `${nameOf(path)} says nothing of the answer: it has neither type nor properties`;
    tell(look, path, message, "begin it with type: object, and describe the answer's keys under properties:");
  }
  lintSchema({ schema, path }, 0, look);
  const failure = report.failed ? null : failureOf(schema);
  if (failure === null) return;
  const fix = "write it in other words, or take it out: no answer could be held to it";
  tell(look, path, `${nameOf(path)} cannot be used: ${failure}`, fix);
}

function lintSchema({ schema, path }: Placed, nesting: number, look: Look): void {
  if (typeof schema === "boolean") return;
  if (!isMapping(schema)) {
    const type = nearest(String(schema), schemaTypes) ?? "string";
    tell(look, path, `${nameOf(path)} is ${show(schema)}; wanted is a schema`, `write {type: ${type}} in its place`);
    return;
  }
  if (nesting > nestingMax) {
    tell(look, path, `a schema lies more than ${nestingMax} others deep`, "let the answer be flatter");
    return;
  }
  lintReference(schema, path, look);
  if (choicesOf(schema, look.root) > choicesMax) {
    const message = `${nameOf(path)} leads through more than ${choicesMax} schemas by its references alone`;
    tell(look, path, message, "let it refer to fewer, and never straight back to itself");
    return;
  }
  for (const keyword of Object.keys(schema)) lintKeyword(keyword, schema, path, look);
  lintTypes(schema, path, look);
  lintRequired(schema, path, look);
  for (const below of schemasBelow(schema, path)) lintSchema(below, nesting + 1, look);
}

const usableKeywords = Object.keys(schemaKeywords).filter((keyword) => schemaKeywords[keyword]?.shape !== "unusable");

function lintKeyword(keyword: string, schema: JsonSchema, path: Path, look: Look): void {
  const known = Object.hasOwn(schemaKeywords, keyword) ? schemaKeywords[keyword] : undefined;
  const at = [...path, keyword];
  if (known === undefined) {
    const meant = nearest(keyword, usableKeywords);
    if (meant === null) return;
    look.report.warn(look.field.keyOffsetOf(at), {
      code: "unknown-keyword",
      message: `${nameOf(at)} is no keyword of JSON Schema; it has no effect`,
      fix: `did you mean ${meant}?`,
    });
    return;
  }
  const value = schema[keyword];
  if (known.shape === "unusable") {
    const fix = "remove it, and say in the prompt what it was to say";
    tell(look, at, `${nameOf(at)} cannot be checked: an answer could break it unseen`, fix);
  } else if (!hasShape(value, known.shape)) {
    const wanted = shapes[known.shape];
    tell(look, at, `${nameOf(at)} is ${show(value)}; wanted is ${wanted.name}`, `write ${keyword}: ${wanted.example}`);
  } else if (known.binds !== undefined && !typesOf(schema).includes(known.binds)) {
    const message = `${nameOf(at)} binds nothing: the schema that it stands in is not of type ${known.binds}`;
    tell(look, at, message, `write type: ${known.binds} beside it, or remove ${keyword}`);
  }
}

function lintTypes(schema: JsonSchema, path: Path, look: Look): void {
  if (!Object.hasOwn(schema, "type")) return;
  const at = [...path, "type"];
  const given = Array.isArray(schema.type) && schema.type.length > 0 ? schema.type : [schema.type];
  for (const type of given.filter((name) => !schemaTypes.includes(name))) {
    const meant = nearest(String(type), schemaTypes);
    const message = `${nameOf(at)} is ${show(type)}; wanted is one of ${schemaTypes.join(", ")}`;
    tell(look, at, message, meant ? `did you mean ${meant}?` : "write one of these, such as type: string");
  }
}

/** Types that a schema names; `integer` counts as a number. */
function typesOf({ type }: JsonSchema): unknown[] {
  return (Array.isArray(type) ? type : [type]).map((name) => (name === "integer" ? "number" : name));
}

/** A required key that is not described would not be asked for. */
function lintRequired({ required, properties }: JsonSchema, path: Path, look: Look): void {
  if (!Array.isArray(required)) return;
  const described = isMapping(properties) ? Object.keys(properties) : [];
  for (const [i, key] of required.entries()) {
    if (described.includes(key)) continue;
    const meant = nearest(String(key), described);
    const message = `${nameOf([...path, "required"])} names ${show(key)}, which properties does not describe`;
    const fix = meant ? `did you mean ${meant}?` : "describe it under properties:, or remove it";
    tell(look, [...path, "required", i], message, fix);
  }
}

function schemasBelow(schema: JsonSchema, path: Path): Placed[] {
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

function lintReference({ $ref }: JsonSchema, path: Path, look: Look): void {
  if (typeof $ref !== "string" || targetOf($ref, look.root) !== undefined) return;
  const message = `${nameOf([...path, "$ref"])} is ${show($ref)}, which is not there`;
  tell(look, [...path, "$ref"], message, "refer to #/$defs/NAME, and describe NAME under $defs: of outputSchema");
}

/** How many schemas one value may have to be held against; endless where a reference comes straight back to itself. */
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
  const [, place = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const named = root[place];
  return isMapping(named) && Object.hasOwn(named, name) ? named[name] : undefined;
}

/** What zod cannot make use of, beyond all that is looked for here. */
function failureOf(schema: JsonSchema): string | null {
  try {
    // A registry of its own: ids of schemas are nobody else's business.
    z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema, { registry: z.registry() });
    return null;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return message.charAt(0).toLowerCase() + message.slice(1);
  }
}

function tell({ field, report }: Look, path: Path, message: string, fix: string): void {
  report.error(field.offsetOf(path), { code: "invalid-schema", message, fix });
}

function nameOf(path: Path): string {
  return ["troupe", ...path].join(".");
}
