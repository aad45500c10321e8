import { hash as hashNatively } from "node:crypto";
import {
  type Entry,
  type EntryBody,
  type EntryHead,
  protocolVersion,
  type Redactor,
  type SealedEntry,
  sealEntry,
} from "@troupe/core";
import { redactEntry } from "../secrets/redact-entry.ts";

/** An entry as it will be fed, with the text that is stored of it. */
export type WrittenEntry = Entry & SealedEntry;

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
export function sealChain(
  writer: Writer,
  end: ChainEnd,
  bodies: readonly EntryBody[],
  redact: Redactor | undefined,
): WrittenEntry[] {
  let prev = end.hash;
  return bodies.map((body, i) => {
    const head: EntryHead = { v: protocolVersion, ...writer, index: end.index + 1 + i, prev };
    const written = seal(head, body, redact);
    prev = written.hash;
    return written;
  });
}

/** Looks at the text that is made anyway: only where something may be in it the fact is gone through, and sealed anew. */
function seal(head: EntryHead, body: EntryBody, redact: Redactor | undefined): WrittenEntry {
  const sealed = sealEntry(head, body, sha256);
  const safe = redact?.mayBeIn(sealed.text) ? redactEntry(body, redact) : body;
  const { hash, text } = safe === body ? sealed : sealEntry(head, safe, sha256);
  return { ...head, ...safe, hash, text };
}

function sha256(text: string): string {
  return hashNatively("sha256", text);
}
