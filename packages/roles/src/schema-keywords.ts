import { isMapping } from "./yaml-fields.ts";

/** What stands behind a keyword of JSON Schema. */
export type Shape =
  | "schema"
  | "schemas by name"
  | "list of schemas"
  | "list"
  | "number"
  | "text"
  | "pattern"
  | "true or false"
  | "anything"
  | "unusable";

export interface Keyword {
  shape: Shape;
  /** The type whose values it binds: of others it says nothing. Absent: it binds any. */
  binds?: "object" | "array" | "string" | "number";
}

export const schemaTypes = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** The keywords of JSON Schema: those that an answer can be held to, those that only describe, those that zod lacks. */
export const schemaKeywords: Readonly<Record<string, Keyword>> = {
  type: { shape: "anything" },
  enum: { shape: "list" },
  const: { shape: "anything" },
  $ref: { shape: "text" },
  anyOf: { shape: "list of schemas" },
  oneOf: { shape: "list of schemas" },
  allOf: { shape: "list of schemas" },
  $defs: { shape: "schemas by name" },
  definitions: { shape: "schemas by name" },

  properties: { shape: "schemas by name", binds: "object" },
  patternProperties: { shape: "schemas by name", binds: "object" },
  additionalProperties: { shape: "schema", binds: "object" },
  propertyNames: { shape: "schema", binds: "object" },
  required: { shape: "list", binds: "object" },
  minProperties: { shape: "number", binds: "object" },
  maxProperties: { shape: "number", binds: "object" },

  items: { shape: "schema", binds: "array" },
  prefixItems: { shape: "list of schemas", binds: "array" },
  contains: { shape: "schema", binds: "array" },
  minItems: { shape: "number", binds: "array" },
  maxItems: { shape: "number", binds: "array" },
  uniqueItems: { shape: "true or false", binds: "array" },

  minLength: { shape: "number", binds: "string" },
  maxLength: { shape: "number", binds: "string" },
  pattern: { shape: "pattern", binds: "string" },
  format: { shape: "text", binds: "string" },

  minimum: { shape: "number", binds: "number" },
  maximum: { shape: "number", binds: "number" },
  exclusiveMinimum: { shape: "number", binds: "number" },
  exclusiveMaximum: { shape: "number", binds: "number" },
  multipleOf: { shape: "number", binds: "number" },

  $schema: { shape: "text" },
  $id: { shape: "text" },
  id: { shape: "anything" },
  $comment: { shape: "anything" },
  title: { shape: "anything" },
  description: { shape: "text" },
  default: { shape: "anything" },
  examples: { shape: "anything" },

  not: { shape: "unusable" },
  if: { shape: "unusable" },
  // biome-ignore lint/suspicious/noThenProperty: the name of a keyword
  then: { shape: "unusable" },
  else: { shape: "unusable" },
  dependentSchemas: { shape: "unusable" },
  dependentRequired: { shape: "unusable" },
  unevaluatedItems: { shape: "unusable" },
  unevaluatedProperties: { shape: "unusable" },
};

/** Of these, a schema needs one to say anything of a value. */
export const tellingKeywords = ["type", "properties", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"];

/** A shape in words, and a sample of it. */
export const shapes: Readonly<Record<Shape, { name: string; example: string }>> = {
  schema: { name: "a schema", example: "{type: string}" },
  "schemas by name": { name: "keys and their schemas", example: "{a: {type: string}}" },
  "list of schemas": { name: "a list of schemas", example: "[{type: string}, {type: number}]" },
  list: { name: "a list", example: "[a, b]" },
  number: { name: "a number", example: "1" },
  text: { name: "text", example: '"…"' },
  pattern: { name: "a regular expression", example: '"^[a-z]+$"' },
  "true or false": { name: "true or false", example: "true" },
  anything: { name: "anything", example: "" },
  unusable: { name: "nothing", example: "" },
};

/** Whether a value is what stands behind a keyword. Schemas are looked at one by one, so any value passes for one. */
export function hasShape(value: unknown, shape: Shape): boolean {
  if (shape === "schemas by name") return isMapping(value);
  if (shape === "list of schemas") return Array.isArray(value) && value.length > 0;
  if (shape === "list") return Array.isArray(value);
  if (shape === "number") return typeof value === "number";
  if (shape === "text") return typeof value === "string";
  if (shape === "true or false") return typeof value === "boolean";
  if (shape === "pattern") return isPattern(value);
  return true;
}

function isPattern(value: unknown): boolean {
  try {
    return typeof value === "string" && new RegExp(value) instanceof RegExp;
  } catch {
    return false;
  }
}
