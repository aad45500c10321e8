import { hash as hashNatively } from "node:crypto";
import type { Entry, EntryBody, Redactor } from "@troupe/core";
import { type EntryHead, protocolVersion, type SealedEntry, sealEntry } from "@troupe/core/internal";
import { redactEntry } from "../../secrets/redact-message.ts";

/**
 * An entry as it will be fed, and what is stored of it. Two objects: an entry may have a `text` of its own, which is not
 * the one that is stored.
 */
export interface WrittenEntry {
  entry: Entry;
  sealed: SealedEntry;
}

/** Where a run's journal ends, for whoever writes on. */
export interface ChainEnd {
  index: number;
  hash: string | null;
}

export interface Writer {
  session: string;
  run: string;
  epoch: number;
  host: string;
  at: number;
}

/**
 * Seals facts one after another onto the end of a run's chain, without the secrets in them: what is stored is what the
 * run is fed, so that it never knows more than its journal.
 */
export function sealEntries(
  writer: Writer,
  end: ChainEnd,
  bodies: readonly EntryBody[],
  redact: Redactor | undefined,
): WrittenEntry[] {
  let prev = end.hash;
  return bodies.map((body, i) => {
    const head: EntryHead = { v: protocolVersion, ...writer, index: end.index + 1 + i, prev };
    const written = seal(head, body, redact);
    prev = written.sealed.hash;
    return written;
  });
}

/** Looks at the text that is made anyway: only where something may be in it the fact is gone through, and sealed anew. */
function seal(head: EntryHead, body: EntryBody, redact: Redactor | undefined): WrittenEntry {
  const asItCame = sealEntry(head, body, sha256);
  const safe = redact?.mayBeIn(asItCame.text) ? redactEntry(body, redact) : body;
  const sealed = safe === body ? asItCame : sealEntry(head, safe, sha256);
  return { entry: { ...safe, ...head, hash: sealed.hash }, sealed };
}

/** Hex SHA-256, by the platform. */
export function sha256(text: string): string {
  return hashNatively("sha256", text);
}
