import { type Blobs, TroupeError } from "@troupe/core";
import type { AppendResult, RunAppend, Subjects } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { Publisher } from "../jetstream/publisher.ts";
import type { Stored, StoredMessages } from "../jetstream/stored-messages.ts";
import type { InvalidEntries } from "./invalid-entries.ts";
import { createSerial } from "./keyed-queue.ts";
import { Recent } from "./lru-map.ts";
import { readEntries } from "./read-body.ts";
import { type Body, entryHeaders, joinEntries, readHead, toBody } from "./wire.ts";

/** Where a run ends. */
interface Standing {
  /** Of the newest message on its subject, whosever that is; 0 while there is none. */
  sequence: number;
  lastIndex: number;
  terminal: boolean;
}

interface Chain extends Standing {
  texts: string[];
  /** Of the message with its last entry. */
  endSequence: number;
}

type Place = { session: string; run: string };

/** The entries of runs: one subject for each run, written by compare-and-set on its newest message. */
export interface Runs {
  append(append: RunAppend): Promise<AppendResult>;
  read(place: Place): Promise<Chain>;
  lastOf(place: Place): Promise<string | null>;
  /** What was known of a session's runs is true no more. */
  forget(session: string): void;
}

export interface RunsOptions {
  link: NatsLink;
  subjects: Subjects;
  stored: StoredMessages;
  publisher: Publisher;
  blobs: Blobs;
  strays: InvalidEntries;
}

/** Runs whose end is known without asking. */
const knownMax = 20_000;
const triesMax = 3;

export function createRuns({ link, subjects, stored, publisher, blobs, strays }: RunsOptions): Runs {
  const known = new Recent<Standing & { session: string }>(knownMax);
  const serial = createSerial();
  const subjectOf = ({ session, run }: Place): string => subjects.journal(session, run);

  const note = ({ session, run }: Place, { sequence, lastIndex, terminal }: Standing): void =>
    known.set(run, { session, sequence, lastIndex, terminal });

  /** All of a run, by the leader. Entries count on from 0 and end with the terminal one; what does not is not of it. */
  const read = async (place: Place): Promise<Chain> => {
    const chain: Chain = { sequence: 0, endSequence: 0, lastIndex: -1, terminal: false, texts: [] };
    for (const message of await stored.allOf(subjectOf(place))) {
      chain.sequence = message.sequence;
      const why = await grow(chain, message, place);
      if (why !== null) strays.refuse(message, why);
    }
    note(place, chain);
    return chain;
  };

  /** Null, or why a message is not what comes next. */
  const grow = async (chain: Chain, message: Stored, place: Place): Promise<string | null> => {
    const head = readHead(message.headers);
    if (head.kind === "foreign") return head.why;
    if (head.kind !== "entries" || chain.terminal || head.first !== chain.lastIndex + 1) return "it does not count on";
    const texts = await readEntries(message, head, place, blobs);
    if ("why" in texts) return texts.why;
    for (const text of texts) chain.texts.push(text);
    chain.lastIndex = head.last;
    chain.terminal = head.terminal;
    chain.endSequence = message.sequence;
    return null;
  };

  /** Where a run is believed to end; null where only all of it can tell. What is wrong here the server refuses. */
  const standingOf = ({ run, after }: RunAppend): Standing | null =>
    known.get(run) ?? (after === -1 ? { sequence: 0, lastIndex: -1, terminal: false } : null);

  /** The last entry in a message, if that is known to be where the run ends: it is what was seen last, or follows on it. */
  const endIn = async (message: Stored, place: Place): Promise<string | null> => {
    const before = known.get(place.run);
    const head = readHead(message.headers);
    if (!before || head.kind !== "entries") return null;
    const isSeen = before.sequence === message.sequence && before.lastIndex === head.last;
    const isNext = before.sequence === head.follows && before.lastIndex + 1 === head.first && !before.terminal;
    if (!isSeen && !isNext) return null;
    const texts = await readEntries(message, head, place, blobs);
    if ("why" in texts) return null;
    note(place, { sequence: message.sequence, lastIndex: head.last, terminal: head.terminal });
    return texts.at(-1) ?? null;
  };

  /** Whether it is stored now; null where somebody or something came between. */
  const publish = async (append: RunAppend, { bytes, blob }: Body, { sequence }: Standing): Promise<true | null> => {
    const said = entryHeaders(append, blob, sequence);
    const result = await publisher.publish({ subject: subjectOf(append), bytes, headers: said });
    if (result.kind === "refused") throw result.error;
    if (result.kind !== "stored") return null;
    const { after, entries, terminal } = append;
    note(append, { sequence: result.sequence, lastIndex: after + entries.length, terminal });
    return true;
  };

  const append = async (append: RunAppend): Promise<AppendResult> => {
    const body = await toBody(joinEntries(append), blobs, link.payloadBytesMax);
    let standing = standingOf(append);
    for (let tries = 0; tries < triesMax; tries += 1) {
      if (standing && isFree(standing, append) && (await publish(append, body, standing))) return { ok: true };
      const before = known.get(append.run);
      const chain = await read(append);
      if (isStored(chain, append)) return { ok: true };
      if (before && before.lastIndex > chain.lastIndex && !before.terminal) throw lostEnd(append, before, chain);
      if (!isFree(chain, append)) return { ok: false, reason: "conflict", lastIndex: chain.lastIndex };
      standing = chain;
    }
    throw new TroupeError("TIMEOUT", `an append to run ${append.run} did not get through at ${link.shown}`);
  };

  return {
    append(wanted) {
      checkIndexes(wanted);
      return serial(wanted.run, () => append(wanted));
    },
    read,
    async lastOf(place) {
      const message = await stored.lastOf(subjectOf(place));
      if (!message) return null;
      return (await endIn(message, place)) ?? (await read(place)).texts.at(-1) ?? null;
    },
    forget(session) {
      known.deleteWhere((standing) => standing.session === session);
    },
  };
}

function isFree({ lastIndex, terminal }: Standing, { after }: RunAppend): boolean {
  return lastIndex === after && !terminal;
}

function isStored({ texts }: Chain, { entries }: RunAppend): boolean {
  return entries.length > 0 && entries.every(({ index, text }) => texts[index] === text);
}

function checkIndexes({ run, after, entries }: RunAppend): void {
  const wrong = entries.find(({ index }, i) => index !== after + 1 + i);
  if (!wrong && entries.length > 0) return;
  const what = wrong ? `entry ${wrong.index} of run ${run} does not count on from ${after}` : `no entry of run ${run}`;
  throw new TroupeError("INVALID_MESSAGE", what);
}

function lostEnd({ run }: Place, before: Standing, now: Standing): TroupeError {
  const message = `run ${run} had ${before.lastIndex + 1} entries, and has ${now.lastIndex + 1}`;
  return new TroupeError("JOURNAL_LOST", message, {
    fix: "run `troupe nats check`: it says what is missing, and what to do",
  });
}
