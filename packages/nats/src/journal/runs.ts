import { type Blobs, TroupeError } from "@troupe/core";
import type { AppendResult, RunAppend, Subjects } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { Publisher } from "../jetstream/publisher.ts";
import type { StoredMessage, StoredMessages } from "../jetstream/stored-messages.ts";
import type { InvalidEntries } from "./invalid-entries.ts";
import { createKeyedQueue } from "./keyed-queue.ts";
import { LruMap } from "./lru-map.ts";
import {
  entryHeaders,
  type InvalidMessage,
  joinEntries,
  type MessageBody,
  outOfSequence,
  readEntries,
  readHeader,
  toBody,
} from "./wire.ts";

/** The end of a run's journal. */
interface RunHead {
  /** Sequence of the newest message on the run's subject, valid or not; 0 if there is none. */
  sequence: number;
  lastIndex: number;
  terminal: boolean;
}

interface RunEntries extends RunHead {
  texts: string[];
  /** Sequence of the message with the last entry. */
  endSequence: number;
}

type RunLocation = { session: string; run: string };

/** The entries of runs: one subject for each run, written by compare-and-set on its newest message. */
export interface Runs {
  append(append: RunAppend): Promise<AppendResult>;
  read(location: RunLocation): Promise<RunEntries>;
  lastOf(location: RunLocation): Promise<string | null>;
  /** Drops the cached heads of a session, for example after a purge. */
  forget(session: string): void;
}

export interface RunsOptions {
  link: NatsLink;
  subjects: Subjects;
  stored: StoredMessages;
  publisher: Publisher;
  blobs: Blobs;
  invalidEntries: InvalidEntries;
}

const cachedHeadsMax = 20_000;
const attemptsMax = 3;

export function createRuns({ link, subjects, stored, publisher, blobs, invalidEntries }: RunsOptions): Runs {
  const heads = new LruMap<RunHead & { session: string }>(cachedHeadsMax);
  const inOrder = createKeyedQueue();
  const subjectOf = ({ session, run }: RunLocation): string => subjects.journal(session, run);

  const cache = ({ session, run }: RunLocation, { sequence, lastIndex, terminal }: RunHead): void =>
    heads.set(run, { session, sequence, lastIndex, terminal });

  /** Reads all entries of a run. Entries are numbered from 0, and end with the terminal one; other messages are invalid. */
  const read = async (location: RunLocation): Promise<RunEntries> => {
    const entries: RunEntries = { sequence: 0, endSequence: 0, lastIndex: -1, terminal: false, texts: [] };
    for (const message of await stored.allOf(subjectOf(location))) {
      entries.sequence = message.sequence;
      const invalid = await addMessage(entries, message, location);
      if (invalid) invalidEntries.note(message, invalid.reason);
    }
    cache(location, entries);
    return entries;
  };

  /** Returns null, or why the message is invalid. */
  const addMessage = async (
    entries: RunEntries,
    message: StoredMessage,
    location: RunLocation,
  ): Promise<InvalidMessage | null> => {
    const header = readHeader(message.headers);
    if (header.kind === "invalid") return header;
    if (header.kind !== "entries" || entries.terminal || header.first !== entries.lastIndex + 1) return outOfSequence;
    const texts = await readEntries(message, header, location, blobs);
    if ("reason" in texts) return texts;
    for (const text of texts) entries.texts.push(text);
    entries.lastIndex = header.last;
    entries.terminal = header.terminal;
    entries.endSequence = message.sequence;
    return null;
  };

  /** The head that an append expects. It may be wrong: then the server refuses the append. Null if it must be read. */
  const expectedHead = ({ run, after }: RunAppend): RunHead | null =>
    heads.get(run) ?? (after === -1 ? { sequence: 0, lastIndex: -1, terminal: false } : null);

  /**
   * The last entry in the newest message, without reading the whole run. Null if the cached head does not prove that the
   * message is the run's end.
   */
  const lastEntryIn = async (message: StoredMessage, location: RunLocation): Promise<string | null> => {
    const head = heads.get(location.run);
    const header = readHeader(message.headers);
    if (!head || header.kind !== "entries") return null;
    const isHead = head.sequence === message.sequence && head.lastIndex === header.last;
    const followsHead = head.sequence === header.previousSequence && head.lastIndex + 1 === header.first;
    if (!isHead && (!followsHead || head.terminal)) return null;
    const texts = await readEntries(message, header, location, blobs);
    if ("reason" in texts) return null;
    cache(location, { sequence: message.sequence, lastIndex: header.last, terminal: header.terminal });
    return texts.at(-1) ?? null;
  };

  /** True if it is stored. False if it is unknown, or another message was first. */
  const publish = async (append: RunAppend, { bytes, blob }: MessageBody, { sequence }: RunHead): Promise<boolean> => {
    const fields = entryHeaders(append, blob, sequence);
    const result = await publisher.publish({ subject: subjectOf(append), bytes, headers: fields });
    if (result.kind === "refused") throw result.error;
    if (result.kind !== "stored") return false;
    const { after, entries, terminal } = append;
    cache(append, { sequence: result.sequence, lastIndex: after + entries.length, terminal });
    return true;
  };

  const append = async (append: RunAppend): Promise<AppendResult> => {
    const body = await toBody(joinEntries(append), blobs, link.payloadBytesMax);
    let head = expectedHead(append);
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if (head && isAppendable(head, append) && (await publish(append, body, head))) return { ok: true };
      const before = heads.get(append.run);
      const entries = await read(append);
      if (isStored(entries, append)) return { ok: true };
      if (before && before.lastIndex > entries.lastIndex && !before.terminal)
        throw entriesLost(append, before, entries);
      if (!isAppendable(entries, append)) return { ok: false, reason: "conflict", lastIndex: entries.lastIndex };
      head = entries;
    }
    throw new TroupeError("TIMEOUT", `an append to run ${append.run} did not get through at ${link.redactedUrl}`);
  };

  return {
    append(request) {
      checkIndexes(request);
      return inOrder(request.run, () => append(request));
    },
    read,
    async lastOf(location) {
      const message = await stored.lastOf(subjectOf(location));
      if (!message) return null;
      return (await lastEntryIn(message, location)) ?? (await read(location)).texts.at(-1) ?? null;
    },
    forget(session) {
      heads.deleteWhere((head) => head.session === session);
    },
  };
}

function isAppendable({ lastIndex, terminal }: RunHead, { after }: RunAppend): boolean {
  return lastIndex === after && !terminal;
}

function isStored({ texts }: RunEntries, { entries }: RunAppend): boolean {
  return entries.length > 0 && entries.every(({ index, text }) => texts[index] === text);
}

function checkIndexes({ run, after, entries }: RunAppend): void {
  const wrong = entries.find(({ index }, i) => index !== after + 1 + i);
  if (!wrong && entries.length > 0) return;
  const problem = wrong ? `entry ${wrong.index} of run ${run} does not follow ${after}` : `no entry for run ${run}`;
  throw new TroupeError("INVALID_MESSAGE", problem);
}

function entriesLost({ run }: RunLocation, before: RunHead, now: RunHead): TroupeError {
  const message = `run ${run} had ${before.lastIndex + 1} entries, and has ${now.lastIndex + 1}`;
  return new TroupeError("JOURNAL_LOST", message, {
    fix: "run `troupe nats check`: it lists the missing streams and the next step",
  });
}
