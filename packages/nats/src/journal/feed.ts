import type { Blobs, FeedItem } from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";
import type { StoredMessage, StoredMessages } from "../jetstream/stored-messages.ts";
import { positionOf } from "../streams/positions.ts";
import type { Inboxes } from "./inboxes.ts";
import type { InvalidEntries } from "./invalid-entries.ts";
import { LruMap } from "./lru-map.ts";
import type { Runs } from "./runs.ts";
import { type InvalidMessage, outOfSequence, readEntries, readHeader, readItem } from "./wire.ts";

/** Decodes the messages of the stream, in their order, to items of the feed. */
export interface FeedDecoder {
  /** Empty for an invalid message. Rejects if a blob cannot be read now. */
  decode(message: StoredMessage): Promise<FeedItem[]>;
}

/** Subjects whose next number is remembered. On other subjects every message by compare-and-set is accepted. */
const rememberedSubjectsMax = 50_000;

export function createFeedDecoder({
  subjects,
  blobs,
  invalidEntries,
}: {
  subjects: Subjects;
  blobs: Blobs;
  invalidEntries: InvalidEntries;
}): FeedDecoder {
  /** The next number by subject. Infinity after the terminal entry of a run. */
  const nextNumbers = new LruMap<number>(rememberedSubjectsMax);

  /** A subject that was purged starts again with any number. */
  const isNext = (subject: string, number: number, previousSequence: number): boolean =>
    previousSequence === 0 || number === (nextNumbers.get(subject) ?? number);

  const decodeEntries = async (
    message: StoredMessage,
    location: { session: string; run: string },
  ): Promise<FeedItem[] | InvalidMessage> => {
    const { subject, sequence } = message;
    const header = readHeader(message.headers);
    if (header.kind === "invalid") return header;
    if (header.kind !== "entries" || !isNext(subject, header.first, header.previousSequence)) return outOfSequence;
    const texts = await readEntries(message, header, location, blobs);
    if ("reason" in texts) return texts;
    nextNumbers.set(subject, header.terminal ? Number.POSITIVE_INFINITY : header.last + 1);
    return texts.map((text, i) => {
      const position = positionOf(sequence, texts.length - 1 - i);
      return { position, kind: "entry", ...location, index: header.first + i, text };
    });
  };
  const decodeItem = async (message: StoredMessage, session: string): Promise<FeedItem[] | InvalidMessage> => {
    const { subject, sequence } = message;
    const header = readHeader(message.headers);
    if (header.kind === "invalid") return header;
    if (header.kind !== "inbox" || !isNext(subject, header.seq, header.previousSequence)) return outOfSequence;
    const read = await readItem(message, header, session, blobs);
    if (read.kind === "invalid") return read;
    nextNumbers.set(subject, header.seq + 1);
    return [{ position: positionOf(sequence), kind: "inbox", session, seq: header.seq, text: read.text }];
  };
  const decodeAny = async (message: StoredMessage): Promise<FeedItem[] | InvalidMessage> => {
    const location = subjects.parse(message.subject);
    if (location?.kind === "journal") {
      return await decodeEntries(message, { session: location.session, run: location.run });
    }
    if (location?.kind === "inbox") return await decodeItem(message, location.session);
    return { kind: "invalid", reason: "its subject does not belong to the journal" };
  };

  return {
    async decode(message) {
      const items = await decodeAny(message);
      if (!("reason" in items)) return items;
      invalidEntries.note(message, items.reason);
      return [];
    },
  };
}

export interface FeedTailOptions {
  stored: StoredMessages;
  subjects: Subjects;
  runs: Pick<Runs, "read">;
  inboxes: Pick<Inboxes, "readAll">;
}

/** Position of the feed's newest item; 0 if the feed is empty. Invalid messages at the end of the stream are skipped. */
export async function readFeedTail({ stored, subjects, runs, inboxes }: FeedTailOptions): Promise<number> {
  const isValid = async ({ subject, sequence }: StoredMessage): Promise<boolean> => {
    const location = subjects.parse(subject);
    if (location?.kind === "journal") return (await runs.read(location)).endSequence === sequence;
    if (location?.kind !== "inbox") return false;
    return (await inboxes.readAll(location.session)).items.at(-1)?.sequence === sequence;
  };
  const last = (await stored.lastOf(">")) ?? (await newestOfAnySubject({ stored, subjects }));
  if (!last) return 0;
  if (await isValid(last)) return positionOf(last.sequence);
  // Search backwards, in windows that double in size.
  for (let window = 16, before = last.sequence; before > 1; window *= 2) {
    const from = Math.max(1, before - window);
    const messages = (await stored.allOf(">", from)).filter(({ sequence }) => sequence < before);
    for (const message of messages.reverse()) {
      if (await isValid(message)) return positionOf(message.sequence);
    }
    before = from;
  }
  return 0;
}

/** After the newest message was purged, the server does not answer for `>`, but it does for each kind of subject. */
async function newestOfAnySubject({
  stored,
  subjects,
}: Pick<FeedTailOptions, "stored" | "subjects">): Promise<StoredMessage | null> {
  const { journal, inbox } = subjects.all;
  const found = await Promise.all([journal, inbox].map((subject) => stored.lastOf(subject)));
  return found.reduce((a, b) => ((a?.sequence ?? 0) > (b?.sequence ?? 0) ? a : b));
}
