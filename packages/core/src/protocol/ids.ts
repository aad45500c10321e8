import { z } from "zod";
import { hashText } from "./hash.ts";

/** A session or run: a UUID (v7 when new, v8 when derived). Always a valid subject token. */
export const Id = z.uuid();
export type Id = z.infer<typeof Id>;

/** A name that can be one token of a subject. */
export const Token = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, "letters, digits, _ and - only, at most 128 of them");
export type Token = z.infer<typeof Token>;

/** Identifies an attempt of a delegation. A retry is another attempt and so another run. */
export interface ChildKey {
  parentRun: Id;
  step: number;
  call: number;
  /** Index within a batch. @default 0 */
  item?: number;
  attempt: number;
}

/**
 * The id of a child's run: a UUIDv8 derived from its key, so that a repeated offer is the same offer.
 *
 * @example
 * childRunId({ parentRun, step: 1, call: 0, attempt: 1 }) === childRunId({ parentRun, step: 1, call: 0, attempt: 1 });
 */
export function childRunId(key: ChildKey): Id {
  const position = key.item ? `${key.call}.${key.item}` : key.call;
  return derivedId(`${key.parentRun}/${key.step}/${position}/${key.attempt}`);
}

/** A UUIDv8 derived from a text. */
export function derivedId(text: string): Id {
  const hex = hashText(text);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
