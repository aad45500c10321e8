import { EntryBody, type Message, type ModelReply, type Redactor } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import type { z } from "zod";

type Path = readonly PropertyKey[];

/** Each round repairs every path that the schema rejects. Deeper problems show up in the next round. */
const roundsMax = 8;

/**
 * Removes the secrets from a message so that it still fits its schema. If redaction breaks a field, such as an agent id
 * or an enum value, that field keeps its original text: an unreadable journal is worse than this leak. Returns the same
 * value if it contains no secret.
 */
export function redactMessage<T>(schema: z.ZodType, value: T, redact: Redactor): T {
  let redacted: unknown = redact.json(value);
  if (redacted === value) return value;
  for (let round = 0; round < roundsMax; round += 1) {
    const issues = schema.safeParse(redacted).error?.issues ?? [];
    const repaired = issues.reduce((result, { path }) => restorePath(result, value, path), redacted);
    if (repaired === redacted) break;
    redacted = repaired;
  }
  return redacted as T;
}

/** Redacts an encoded message. Bytes that are not JSON are redacted as text. */
export function redactMessageBytes(schema: z.ZodType, bytes: Uint8Array, redact: Redactor): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  if (!redact.mayBeIn(text)) return bytes;
  const message = parseJson(text);
  if (message === undefined) return Buffer.from(redact.text(text));
  const redacted = redactMessage(schema, message, redact);
  return redacted === message ? bytes : encode(redacted);
}

/** Removes the secrets from a journal entry. Returns the same entry if it contains none. */
export function redactEntry(body: EntryBody, redact: Redactor): EntryBody {
  return redactMessage(EntryBody, redactThinking(body, redact), redact);
}

/** Handles the two kinds of entries that contain a model's thinking. */
function redactThinking(body: EntryBody, redact: Redactor): EntryBody {
  if (body.kind === "model.replied") return { ...body, reply: withSafeThinking(body.reply, redact) };
  if (body.kind !== "run.opened") return body;
  const history = body.pin.history.map((message) =>
    message.role === "assistant" ? withSafeThinking(message, redact) : message,
  );
  return { ...body, pin: { ...body.pin, history } };
}

type ModelMessage = ModelReply | (Message & { role: "assistant" });

/**
 * The provider signs thinking blocks, so they cannot be changed. If one contains a secret, all blocks of the reply are
 * dropped, because the provider requires them together. The position of each block moves with the redacted text.
 */
function withSafeThinking<T extends ModelMessage>(message: T, redact: Redactor): T {
  const { thinking, ...rest } = message;
  if (!thinking) return message;
  if (redact.json(thinking) !== thinking) return rest as T;
  const lengthOf = (end: number): number => redact.text(message.text.slice(0, end)).length;
  const length = lengthOf(message.text.length);
  const moved = thinking.map((block) => ({ ...block, textBefore: Math.min(lengthOf(block.textBefore), length) }));
  return { ...message, thinking: moved };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the redacted value with the original value at one path. Shared objects are copied, never changed. */
function restorePath(redacted: unknown, original: unknown, path: Path): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return original;
  if (!isBranch(redacted) || !isBranch(original)) return original;
  const restored = restorePath(redacted[step], original[step], rest);
  if (Object.is(restored, redacted[step])) return redacted;
  if (Array.isArray(redacted)) return redacted.with(Number(step), restored);
  return { ...redacted, [step]: restored };
}

function isBranch(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null;
}
