import { z } from "zod";
import { hashText } from "./hash.ts";

/** A session or run: a UUID (v7 when new, v8 when derived). Always a valid subject token. */
export const Id = z.uuid();
export type Id = z.infer<typeof Id>;

/** What may stand between two dots of a subject. */
export const Token = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, "letters, digits, _ and - only, at most 128 of them");
export type Token = z.infer<typeof Token>;

/** What makes a delegation unique. A retry has another attempt and so is another run. */
export interface ChildKey {
  parentRun: Id;
  step: number;
  call: number;
  /** Place within a batch. @default 0 */
  item?: number;
  attempt: number;
}

/**
 * The id of a child's run: a UUIDv8 made of what makes it unique, so that offering a child twice is offering it once.
 *
 * @example
 * childRunId({ parentRun, step: 1, call: 0, attempt: 1 }) === childRunId({ parentRun, step: 1, call: 0, attempt: 1 });
 */
export function childRunId(key: ChildKey): Id {
  const place = key.item ? `${key.call}.${key.item}` : key.call;
  return derivedId(`${key.parentRun}/${key.step}/${place}/${key.attempt}`);
}

/** A UUIDv8 made of a text: the same text, the same id. */
export function derivedId(text: string): Id {
  const hex = hashText(text);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
