import { z } from "zod";
import { TroupeError } from "../errors.ts";

/** The version of every message and entry. Within a version fields are only added, never changed or removed. */
export const protocolVersion = 1;

export const Version = z.literal(protocolVersion);

/** Larger bodies are sent by reference, through Blobs. */
export const inlineBytesMax = 256 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Encodes a message for a queue or bus. */
export function encode(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/**
 * Parses a message at the border of the process. The result is valid.
 *
 * @param what name of the message in errors
 */
export function decode<S extends z.ZodType>(schema: S, bytes: Uint8Array, what: string): z.output<S> {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new TroupeError("INVALID_MESSAGE", `${what} is not UTF-8`, { cause });
  }
  return decodeText(schema, text, what);
}

/** Parses JSON text at the border of the process. */
export function decodeText<S extends z.ZodType>(schema: S, text: string, what: string): z.output<S> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TroupeError("INVALID_MESSAGE", `${what} is not JSON: ${excerpt(text)}`, { cause });
  }
  const parsed = safeParse(schema, value, what);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue && issue.path.length > 0 ? ` at ${issue.path.join(".")}` : "";
  throw new TroupeError("INVALID_MESSAGE", `${what} does not fit its schema${where}: ${issue?.message ?? "unknown"}`, {
    cause: parsed.error,
  });
}

/** A message nested a hundred thousand levels deep overflows the stack of the parser. That must not end the process. */
function safeParse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.ZodSafeParseResult<z.output<S>> {
  try {
    return schema.safeParse(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new TroupeError("INVALID_MESSAGE", `${what} is nested too deeply`, { cause });
  }
}

function excerpt(text: string): string {
  return text.length > 60 ? `${JSON.stringify(text.slice(0, 60))}…` : JSON.stringify(text);
}
