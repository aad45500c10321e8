import { z } from "zod";
import type { ToolSpec } from "../protocol/tool.ts";

type Schema = Record<string, unknown>;

/** Bounds from here on are wider than a model's arguments ever are. The tool still checks them. */
const wideBound = 100;

/**
 * The JSON Schema of a tool's input for models, who pay for it in every request. It leaves out keywords that do
 * not help a model to make a valid call: wide bounds, defaults that mean "not set", and the ban of unknown fields. The tool itself
 * checks all of it.
 *
 * @example
 * modelSchema(z.strictObject({ path: z.string().min(1).max(4_096) }));
 * // { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
 */
export function modelSchema(input: z.ZodObject): ToolSpec["inputSchema"] {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, { io: "input" });
  return withoutNoise(schema) as ToolSpec["inputSchema"];
}

function withoutNoise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (!isSchema(value)) return value;
  const entries = Object.entries(value).filter(([keyword, of]) => !isNoise(keyword, of, value));
  return Object.fromEntries(entries.map(([keyword, of]) => [keyword, innerOf(keyword, of)]));
}

/** Names of properties are not keywords, and values of `enum`, `const` and `default` are not schemas. */
function innerOf(keyword: string, value: unknown): unknown {
  if (["properties", "$defs", "patternProperties"].includes(keyword) && isSchema(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, withoutNoise(schema)]));
  }
  return ["enum", "const", "default", "examples"].includes(keyword) ? value : withoutNoise(value);
}

function isNoise(keyword: string, value: unknown, { format }: Schema): boolean {
  switch (keyword) {
    case "additionalProperties":
      return value === false;
    case "default":
      return value === false || (Array.isArray(value) && value.length === 0);
    case "minLength":
    case "minItems":
      return value === 0 || value === 1;
    case "minimum":
      return value === 0 || value === 1 || value === Number.MIN_SAFE_INTEGER;
    case "maxLength":
    case "maxItems":
      return Number(value) >= wideBound;
    case "maximum":
      return value === Number.MAX_SAFE_INTEGER;
    case "pattern":
      return format !== undefined;
    default:
      return false;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
