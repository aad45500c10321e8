import type { Json } from "@troupe/core";

type Schema = Record<string, Json>;

/** What a strict schema may say besides what holds others: the vendor refuses every other word. */
const plainWords = new Set([
  ...["type", "title", "description", "enum", "const", "$ref", "pattern", "format"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"],
  ...["properties", "required", "additionalProperties", "items", "anyOf", "$defs", "definitions"],
]);

/** Words that only tell, and that can be left out without allowing more. */
const tellingWords = new Set(["$schema", "$id", "$comment", "default", "examples", "deprecated", "readOnly"]);

const formats = new Set(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]);

/** The vendor's own bounds. */
const depthMax = 10;
const propertiesMax = 5_000;

/**
 * The schema in the form to which OpenAI can hold a model to the letter, or null where it has none: then it says more
 * than that form can, or leaves something open. Nothing that it forbids becomes allowed, and nothing has to be made up:
 * a property that may be missing makes it not strict, instead of required.
 *
 * @example
 * strictSchema({ type: "object", properties: { a: { type: "string" } }, required: ["a"] }); // … additionalProperties: false
 */
export function strictSchema(schema: Schema): Schema | null {
  if (schema.type !== "object" || "anyOf" in schema) return null;
  return canBeStrict(schema, 0) && propertiesIn(schema) <= propertiesMax ? closed(schema) : null;
}

function canBeStrict(schema: Json, depth: number): boolean {
  if (!isObject(schema) || depth > depthMax) return false;
  const { format, properties = {}, required = [], additionalProperties = false } = schema;
  if (Object.keys(schema).some((word) => !plainWords.has(word) && !tellingWords.has(word))) return false;
  if (typeof format === "string" && !formats.has(format)) return false;
  if (isObjectSchema(schema)) {
    if (additionalProperties !== false || !isObject(properties) || !Array.isArray(required)) return false;
    if (Object.keys(properties).some((name) => !required.includes(name))) return false;
  }
  return schemasIn(schema).every((inner) => canBeStrict(inner, depth + 1));
}

function isObjectSchema({ type, properties }: Schema): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || properties !== undefined;
}

/** Words whose value is a schema, a list of them, or a record of them. */
const holders = ["items", "anyOf", "properties", "$defs", "definitions"];

function schemasIn(schema: Schema): Json[] {
  return holders.flatMap((word) => {
    const held = schema[word];
    if (held === undefined) return [];
    if (word === "items") return [held];
    return isObject(held) || Array.isArray(held) ? Object.values(held) : [null];
  });
}

function propertiesIn(schema: Json): number {
  if (!isObject(schema)) return 0;
  const own = isObject(schema.properties) ? Object.keys(schema.properties).length : 0;
  return schemasIn(schema).reduce<number>((sum, inner) => sum + propertiesIn(inner), own);
}

/** The same without what only tells, each object with nothing but its properties. */
function closed(schema: Schema): Schema {
  const words = Object.entries(schema).filter(([word]) => !tellingWords.has(word));
  const strict = Object.fromEntries(words.map(([word, value]) => [word, closedWord(word, value)]));
  if (!isObjectSchema(schema)) return strict;
  const properties = strict.properties ?? {};
  return { ...strict, properties, required: Object.keys(properties), additionalProperties: false };
}

function closedWord(word: string, value: Json): Json {
  if (!holders.includes(word)) return value;
  if (Array.isArray(value)) return value.map((inner) => (isObject(inner) ? closed(inner) : inner));
  if (!isObject(value)) return value;
  if (word === "items") return closed(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, isObject(inner) ? closed(inner) : inner]),
  );
}

function isObject(value: Json | undefined): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
