import { hash as hashNatively } from "node:crypto";
import type { Entry, EntryBody, Redactor, RunRequest } from "@troupe/core";
import { type EntryHead, isTerminal, protocolVersion, type SealedEntry, sealEntry } from "@troupe/core/internal";
import { redactEntry } from "../../secrets/redact-message.ts";
import type { HostDeps } from "../host-deps.ts";

/**
 * An entry for the machine, and its sealed form for the journal. They are two objects because an entry may have a field
 * `text` of its own, and the sealed entry has its JSON there.
 */
export interface WrittenEntry {
  entry: Entry;
  sealed: SealedEntry;
}

/** The end of a run's hash chain. */
export interface ChainEnd {
  index: number;
  hash: string | null;
}

/** The host, epoch and time that are stored in each entry. */
export interface EntryWriter {
  session: string;
  run: string;
  epoch: number;
  host: string;
  at: number;
}

/**
 * Redacts entries and seals them onto the end of a run's hash chain. The machine gets the redacted entries too, so a run
 * never knows more than its journal.
 */
export function sealEntries(
  writer: EntryWriter,
  end: ChainEnd,
  bodies: readonly EntryBody[],
  redact: Redactor | undefined,
): WrittenEntry[] {
  let prev = end.hash;
  return bodies.map((body, i) => {
    const written = sealNext(writer, { index: end.index + i, hash: prev }, body, redact);
    prev = written.sealed.hash;
    return written;
  });
}

/** The same for one entry. */
export function sealNext(
  writer: EntryWriter,
  end: ChainEnd,
  body: EntryBody,
  redact: Redactor | undefined,
): WrittenEntry {
  const head: EntryHead = { v: protocolVersion, ...writer, index: end.index + 1, prev: end.hash };
  return seal(head, body, redact);
}

/** Sealing renders the JSON anyway. Only if that text may contain a secret, the entry is redacted and sealed again. */
function seal(head: EntryHead, body: EntryBody, redact: Redactor | undefined): WrittenEntry {
  const unredacted = sealEntry(head, body, sha256);
  const safe = redact?.mayBeIn(unredacted.text) ? redactEntry(body, redact) : body;
  const sealed = safe === body ? unredacted : sealEntry(head, safe, sha256);
  return { entry: { ...safe, ...head, hash: sealed.hash }, sealed };
}

/**
 * Appends entries to the journal of a run that is not in memory: for a claim, or to fail an orphan.
 *
 * @returns all entries of the run; null if another host has written to the journal meanwhile
 */
export async function appendEntries(
  deps: Pick<HostDeps, "journal" | "clock" | "hostId" | "redact">,
  { session, run }: RunRequest,
  known: readonly Entry[],
  bodies: readonly EntryBody[],
  epoch: number,
): Promise<Entry[] | null> {
  const last = known.at(-1);
  const writer = { session, run, epoch, host: deps.hostId, at: deps.clock.now() };
  const end = { index: last?.index ?? -1, hash: last?.hash ?? null };
  const written = sealEntries(writer, end, bodies, deps.redact);
  const entries = written.map(({ sealed }) => sealed);
  const terminal = bodies.some(isTerminal);
  const result = await deps.journal.append({ session, run, after: end.index, entries, terminal });
  return result.ok ? [...known, ...written.map(({ entry }) => entry)] : null;
}

/** Hex SHA-256, computed by Node.js. */
export function sha256(text: string): string {
  return hashNatively("sha256", text);
}
