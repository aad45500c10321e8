import { z } from "zod";

/** Any JSON value. */
export type Json = z.core.util.JSONType;

/**
 * Any JSON value. A type check is enough: zod's own JSON schema tries every type for every node and copies the value, which
 * made the schemas of a few tools the most expensive part of an entry.
 */
export const Json = z.custom<Json>(isJson, "is not JSON");

/** Any JSON object. */
export const JsonObject = z.custom<Record<string, Json>>(
  (value) => isObject(value) && isJson(value),
  "is not an object of JSON",
);
export type JsonObject = z.infer<typeof JsonObject>;

function isJson(value: unknown): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return isObject(value) && Object.values(value).every(isJson);
}

function isObject(value: unknown): value is object {
  return z.core.util.isPlainObject(value);
}
