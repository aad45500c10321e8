import { randomUUID } from "node:crypto";
import { type Blobs, type InboxItem, TroupeError } from "@troupe/core";
import { beginsTurn, type Subjects } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { Publisher } from "../jetstream/publisher.ts";
import type { StoredMessage, StoredMessages } from "../jetstream/stored-messages.ts";
import type { InvalidEntries } from "./invalid-entries.ts";
import { createKeyedQueue } from "./keyed-queue.ts";
import { LruMap } from "./lru-map.ts";
import { type InvalidMessage, inboxHeaders, outOfSequence, readHeader, readItem, toBody } from "./wire.ts";

export interface StoredItem {
  seq: number;
  item: InboxItem;
  text: string;
  /** Id of the write that stored it. */
  write: string;
  sequence: number;
}

/**
 * The inboxes of sessions: one subject for each. Any process may append. Items are numbered: each one is written by
 * compare-and-set on the newest, and again with the next number if another process was first.
 */
export interface Inboxes {
  append(item: InboxItem): Promise<{ seq: number }>;
  read(session: string, afterSeq: number): Promise<StoredItem[]>;
  /** All items, and the sequence of the newest message on the subject, valid or not. */
  readAll(session: string): Promise<{ items: StoredItem[]; sequence: number }>;
  /** Drops the cached items of a session, for example after a purge. */
  forget(session: string): void;
}

export interface InboxesOptions {
  link: NatsLink;
  subjects: Subjects;
  stored: StoredMessages;
  publisher: Publisher;
  blobs: Blobs;
  invalidEntries: InvalidEntries;
}

/** The last item that was read: a later read can start after it. */
interface CachedInbox {
  session: string;
  seq: number;
  sequence: number;
  /** All items up to it, if they are short: items never change. Else null. */
  items: readonly StoredItem[] | null;
}

const cachedInboxesMax = 5_000;
/** Limit of the items that are cached for one inbox. Usually the inbox has one item: the session's request. */
const cachedCharactersMax = 8_192;
const attemptsMax = 100;

export function createInboxes({ link, subjects, stored, publisher, blobs, invalidEntries }: InboxesOptions): Inboxes {
  const cache = new LruMap<CachedInbox>(cachedInboxesMax);
  const inOrder = createKeyedQueue();

  /** Decodes messages that follow `after`. In a purged inbox the first remaining item may have any number. */
  const decode = async (
    session: string,
    messages: readonly StoredMessage[],
    after?: CachedInbox,
  ): Promise<StoredItem[]> => {
    const items: StoredItem[] = [];
    let seq = after?.seq ?? null;
    for (const message of messages) {
      const item = await decodeOne(session, message, seq);
      if ("reason" in item) {
        invalidEntries.note(message, item.reason);
        continue;
      }
      items.push(item);
      seq = item.seq;
    }
    return items;
  };

  const decodeOne = async (
    session: string,
    message: StoredMessage,
    afterSeq: number | null,
  ): Promise<StoredItem | InvalidMessage> => {
    const header = readHeader(message.headers);
    if (header.kind === "invalid") return header;
    if (header.kind !== "inbox" || (afterSeq !== null && header.seq !== afterSeq + 1)) return outOfSequence;
    const read = await readItem(message, header, session, blobs);
    if (read.kind === "invalid") return read;
    const { text, item } = read;
    return { text, item, seq: header.seq, write: header.write, sequence: message.sequence };
  };

  const readAll = async (session: string): Promise<{ items: StoredItem[]; sequence: number }> => {
    const messages = await stored.allOf(subjects.inbox(session));
    return { items: await decode(session, messages), sequence: messages.at(-1)?.sequence ?? 0 };
  };

  /** Reads the items after a cached one, one by one from the leader: usually none or one. */
  const readAfter = async (cached: CachedInbox): Promise<StoredItem[]> => {
    const messages: StoredMessage[] = [];
    const subject = subjects.inbox(cached.session);
    for (let from = cached.sequence + 1; ; from = (messages.at(-1)?.sequence ?? from) + 1) {
      const next = await stored.nextOf(subject, from);
      if (!next) return await decode(cached.session, messages, cached);
      messages.push(next);
    }
  };

  const addToCache = (session: string, items: readonly StoredItem[], isWhole: boolean): void => {
    const last = items.at(-1);
    const characters = items.reduce((sum, { text }) => sum + text.length, 0);
    const isShort = isWhole && characters <= cachedCharactersMax;
    if (last) cache.set(session, { session, seq: last.seq, sequence: last.sequence, items: isShort ? items : null });
  };

  const lastOf = async (session: string): Promise<{ seq: number; sequence: number }> => {
    const message = await stored.lastOf(subjects.inbox(session));
    if (!message) return { seq: 0, sequence: 0 };
    const header = readHeader(message.headers);
    if (header.kind === "inbox") return { seq: header.seq, sequence: message.sequence };
    const { items, sequence } = await readAll(session);
    return { seq: items.at(-1)?.seq ?? 0, sequence };
  };

  const append = async (item: InboxItem): Promise<{ seq: number }> => {
    const { session } = item;
    const write = randomUUID();
    const opens = beginsTurn(item) ? item.request.run : "";
    const { bytes, blob } = await toBody(JSON.stringify(item), blobs, link.payloadBytesMax);
    let last = await lastOf(session);
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const seq = last.seq + 1;
      const fields = inboxHeaders({ seq, opens, write, blob }, last.sequence);
      const result = await publisher.publish({ subject: subjects.inbox(session), bytes, headers: fields });
      if (result.kind === "stored") return { seq };
      if (result.kind === "refused") throw result.error;
      const { items, sequence } = await readAll(session);
      const own = items.find((each) => each.write === write);
      if (own) return { seq: own.seq };
      last = { seq: items.at(-1)?.seq ?? 0, sequence };
    }
    throw new TroupeError("TIMEOUT", `an item for the inbox of ${session} did not get through at ${link.redactedUrl}`);
  };

  return {
    readAll,
    append: (item) => inOrder(item.session, () => append(item)),
    async read(session, afterSeq) {
      const cached = cache.get(session);
      const isUsable = cached !== undefined && (cached.items !== null || cached.seq <= afterSeq);
      const items = isUsable ? [...(cached.items ?? []), ...(await readAfter(cached))] : (await readAll(session)).items;
      addToCache(session, items, !isUsable || cached.items !== null);
      return items.filter(({ seq }) => seq > afterSeq);
    },
    forget(session) {
      cache.deleteWhere((cached) => cached.session === session);
    },
  };
}
