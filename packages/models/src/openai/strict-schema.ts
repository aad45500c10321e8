import type { Json } from "@troupe/core";

type Schema = Record<string, Json>;

/** The vendors accept only objects as the schema of an answer. */
export function isObjectAtRoot(schema: Schema): boolean {
  return schema.type === "object" && !("anyOf" in schema);
}

/** The output format of a request, strict when the schema allows it. */
export function answerFormat(schema: Schema) {
  const strict = strictSchema(schema);
  return { name: "answer", schema: strict ?? schema, strict: strict !== null };
}

/** All keywords that OpenAI accepts in a strict schema. It refuses every other keyword. */
const strictKeywords = new Set([
  ...["type", "title", "description", "enum", "const", "$ref", "pattern", "format"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"],
  ...["properties", "required", "additionalProperties", "items", "anyOf", "$defs", "definitions"],
]);

/** Keywords that only describe. Without them the schema allows nothing more. */
const annotations = new Set(["$schema", "$id", "$comment", "default", "examples", "deprecated", "readOnly"]);

const formats = new Set(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]);

/** OpenAI's limits. */
const depthMax = 10;
const propertiesMax = 5_000;

/**
 * The schema in OpenAI's strict form, or null when it has none: it uses more than that form can say, or leaves something
 * open. The strict form forbids at least as much, and requires no property that was optional.
 *
 * @example
 * strictSchema({ type: "object", properties: { a: { type: "string" } }, required: ["a"] }); // … additionalProperties: false
 */
export function strictSchema(schema: Schema): Schema | null {
  if (!isObjectAtRoot(schema)) return null;
  return canBeStrict(schema, 0) && countProperties(schema) <= propertiesMax ? closed(schema) : null;
}

function canBeStrict(schema: Json, depth: number): boolean {
  if (!isObject(schema) || depth > depthMax) return false;
  const { format, properties = {}, required = [], additionalProperties = false } = schema;
  if (Object.keys(schema).some((keyword) => !strictKeywords.has(keyword) && !annotations.has(keyword))) return false;
  if (typeof format === "string" && !formats.has(format)) return false;
  if (isObjectSchema(schema)) {
    if (additionalProperties !== false || !isObject(properties) || !Array.isArray(required)) return false;
    if (Object.keys(properties).some((name) => !required.includes(name))) return false;
  }
  return subschemas(schema).every((inner) => canBeStrict(inner, depth + 1));
}

function isObjectSchema({ type, properties }: Schema): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || properties !== undefined;
}

/** Keywords whose value is a schema, a list of schemas, or a record of schemas. */
const schemaKeywords = ["items", "anyOf", "properties", "$defs", "definitions"];

function subschemas(schema: Schema): Json[] {
  return schemaKeywords.flatMap((keyword) => {
    const value = schema[keyword];
    if (value === undefined) return [];
    if (keyword === "items") return [value];
    return isObject(value) || Array.isArray(value) ? Object.values(value) : [null];
  });
}

function countProperties(schema: Json): number {
  if (!isObject(schema)) return 0;
  const own = isObject(schema.properties) ? Object.keys(schema.properties).length : 0;
  return subschemas(schema).reduce<number>((sum, inner) => sum + countProperties(inner), own);
}

/** The schema without annotations, and every object without additional properties. */
function closed(schema: Schema): Schema {
  const keywords = Object.entries(schema).filter(([keyword]) => !annotations.has(keyword));
  const strict = Object.fromEntries(keywords.map(([keyword, value]) => [keyword, closedKeyword(keyword, value)]));
  if (!isObjectSchema(schema)) return strict;
  const properties = strict.properties ?? {};
  return { ...strict, properties, required: Object.keys(properties), additionalProperties: false };
}

function closedKeyword(keyword: string, value: Json): Json {
  if (!schemaKeywords.includes(keyword)) return value;
  if (Array.isArray(value)) return value.map((inner) => (isObject(inner) ? closed(inner) : inner));
  if (!isObject(value)) return value;
  if (keyword === "items") return closed(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, isObject(inner) ? closed(inner) : inner]),
  );
}

function isObject(value: Json | undefined): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
