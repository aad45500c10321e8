import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import type { JSONOutputFormat } from "@anthropic-ai/sdk/resources/messages";
import type { ToolCall } from "@troupe/core";

type Json = ToolCall["args"];

/** More than these the API refuses as too complex. */
const optionalMax = 24;
const choicesMax = 16;

/**
 * The format that holds an answer to a schema; null for a schema that this API cannot hold one to, which is no loss but
 * of comfort: whoever asked checks the answer anyway. Bounds that the API does not know are told in words.
 */
export function outputFormatOf(schema: Record<string, Json>): JSONOutputFormat | null {
  if (schema.type !== "object") return null;
  const count = { optional: 0, choices: 0 };
  if (!canBeHeld(schema, count) || count.optional > optionalMax || count.choices > choicesMax) return null;
  try {
    return { type: "json_schema", schema: transformJSONSchema(schema) };
  } catch {
    return null;
  }
}

/** What would come out as something else: objects with keys of any name, and references, which may be circular. */
function canBeHeld(schema: Json | undefined, count: { optional: number; choices: number }): boolean {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return false;
  if ("$ref" in schema || "patternProperties" in schema || "not" in schema) return false;
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (choices.length > 0 || Array.isArray(schema.type)) count.choices += 1;
  if (!choices.every((choice) => canBeHeld(choice, count))) return false;
  if (schema.items !== undefined && !canBeHeld(schema.items, count)) return false;
  return !isObjectSchema(schema) || hasKnownKeys(schema, count);
}

function isObjectSchema({ type }: Record<string, Json>): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object"));
}

function hasKnownKeys(schema: Record<string, Json>, count: { optional: number; choices: number }): boolean {
  const { properties, additionalProperties, required } = schema;
  if (additionalProperties !== undefined && additionalProperties !== false) return false;
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return false;
  const needed = Array.isArray(required) ? required.length : 0;
  count.optional += Object.keys(properties).length - needed;
  return Object.values(properties).every((property) => canBeHeld(property, count));
}
