import { isMapping } from "./yaml-fields.ts";

/** The kind of value that a keyword of JSON Schema takes. */
export type KeywordShape =
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
  shape: KeywordShape;
  /** The type that the keyword constrains. Absent: it constrains every type. */
  appliesTo?: "object" | "array" | "string" | "number";
}

export const schemaTypes = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** The keywords of JSON Schema: constraints, then annotations, then keywords that zod does not support. */
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

  properties: { shape: "schemas by name", appliesTo: "object" },
  patternProperties: { shape: "schemas by name", appliesTo: "object" },
  additionalProperties: { shape: "schema", appliesTo: "object" },
  propertyNames: { shape: "schema", appliesTo: "object" },
  required: { shape: "list", appliesTo: "object" },
  minProperties: { shape: "number", appliesTo: "object" },
  maxProperties: { shape: "number", appliesTo: "object" },

  items: { shape: "schema", appliesTo: "array" },
  prefixItems: { shape: "list of schemas", appliesTo: "array" },
  contains: { shape: "schema", appliesTo: "array" },
  minItems: { shape: "number", appliesTo: "array" },
  maxItems: { shape: "number", appliesTo: "array" },
  uniqueItems: { shape: "true or false", appliesTo: "array" },

  minLength: { shape: "number", appliesTo: "string" },
  maxLength: { shape: "number", appliesTo: "string" },
  pattern: { shape: "pattern", appliesTo: "string" },
  format: { shape: "text", appliesTo: "string" },

  minimum: { shape: "number", appliesTo: "number" },
  maximum: { shape: "number", appliesTo: "number" },
  exclusiveMinimum: { shape: "number", appliesTo: "number" },
  exclusiveMaximum: { shape: "number", appliesTo: "number" },
  multipleOf: { shape: "number", appliesTo: "number" },

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

/** A schema needs one of these keywords to constrain a value. */
export const constrainingKeywords = ["type", "properties", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"];

/** Name and example of each shape, for messages. */
export const shapes: Readonly<Record<KeywordShape, { name: string; example: string }>> = {
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

/** True if a keyword can have this value. Nested schemas are checked separately, so every value counts as a schema. */
export function hasShape(value: unknown, shape: KeywordShape): boolean {
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
