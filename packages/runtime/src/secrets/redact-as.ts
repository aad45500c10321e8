import type { Redactor } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import type { z } from "zod";

type Path = readonly PropertyKey[];

/** Each round mends all that a schema complains about; what it complains about then stood behind that. */
const roundsMax = 8;

/**
 * A message without the secrets in it, which still is what its schema says. Where a name has to stand (an agent's, a
 * kind's) the name stays, though a secret be the same word: it was chosen by whoever owns the machine, and a journal that
 * cannot be read any more would be worse. The same value where nothing was found.
 */
export function redactAs<T>(schema: z.ZodType, value: T, redact: Redactor): T {
  let redacted: unknown = redact.json(value);
  if (redacted === value) return value;
  for (let round = 0; round < roundsMax; round += 1) {
    const issues = schema.safeParse(redacted).error?.issues ?? [];
    const mended = issues.reduce((made, { path }) => restored(made, value, path), redacted);
    if (mended === redacted) break;
    redacted = mended;
  }
  return redacted as T;
}

/** The same for a message in bytes. What is no such message is text like any other. */
export function redactBytesAs(schema: z.ZodType, bytes: Uint8Array, redact: Redactor): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  if (!redact.mayBeIn(text)) return bytes;
  const message = jsonIn(text);
  if (message === undefined) return Buffer.from(redact.text(text));
  const redacted = redactAs(schema, message, redact);
  return redacted === message ? bytes : encode(redacted);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The redacted value with what stood at a place before. Nothing that the two share is changed. */
function restored(redacted: unknown, before: unknown, path: Path): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return before;
  if (!isBranch(redacted) || !isBranch(before)) return before;
  const at = restored(redacted[step], before[step], rest);
  if (Object.is(at, redacted[step])) return redacted;
  if (Array.isArray(redacted)) return redacted.with(Number(step), at);
  return { ...redacted, [step]: at };
}

function isBranch(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null;
}
