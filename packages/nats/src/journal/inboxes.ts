import { randomUUID } from "node:crypto";
import { type Blobs, type InboxItem, TroupeError } from "@troupe/core";
import { beginsTurn, type Subjects } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { Publisher } from "../jetstream/publisher.ts";
import type { Stored, StoredMessages } from "../jetstream/stored-messages.ts";
import type { InvalidEntries } from "./invalid-entries.ts";
import { createSerial } from "./keyed-queue.ts";
import { Recent } from "./lru-map.ts";
import { readItem } from "./read-body.ts";
import { inboxHeaders, readHead, toBody } from "./wire.ts";

export interface PlacedItem {
  seq: number;
  item: InboxItem;
  text: string;
  /** Which write it came from. */
  write: string;
  sequence: number;
}

/**
 * The inboxes of sessions: one subject for each. Whoever appends needs nobody's leave, but items are numbered, so that
 * each is written by compare-and-set on the newest, and again with the next number where another was faster.
 */
export interface Inboxes {
  append(item: InboxItem): Promise<{ seq: number }>;
  read(session: string, afterSeq: number): Promise<PlacedItem[]>;
  /** All of it, and the sequence of the newest message there, whosever that is. */
  readAll(session: string): Promise<{ items: PlacedItem[]; sequence: number }>;
  /** What was known of a session's inbox is true no more. */
  forget(session: string): void;
}

export interface InboxesOptions {
  link: NatsLink;
  subjects: Subjects;
  stored: StoredMessages;
  publisher: Publisher;
  blobs: Blobs;
  strays: InvalidEntries;
}

/** An item that was read, from which a later read may go on. */
interface Mark {
  session: string;
  seq: number;
  sequence: number;
  /** All up to it, where they are few and short: items never change. */
  items: readonly PlacedItem[] | null;
}

const marksMax = 5_000;
/** What is kept of one inbox: as a rule that is the item with which its session began. */
const keptCharactersMax = 8_192;
const triesMax = 100;

export function createInboxes({ link, subjects, stored, publisher, blobs, strays }: InboxesOptions): Inboxes {
  const marks = new Recent<Mark>(marksMax);
  const serial = createSerial();

  /** Items that count on from a mark. Of an inbox that was purged in part the first that is left may have any number. */
  const fold = async (session: string, messages: readonly Stored[], mark?: Mark): Promise<PlacedItem[]> => {
    const items: PlacedItem[] = [];
    let seq = mark?.seq ?? null;
    for (const message of messages) {
      const placed = await place(session, message, seq);
      if ("why" in placed) {
        strays.refuse(message, placed.why);
        continue;
      }
      items.push(placed);
      seq = placed.seq;
    }
    return items;
  };

  const place = async (
    session: string,
    message: Stored,
    before: number | null,
  ): Promise<PlacedItem | { why: string }> => {
    const head = readHead(message.headers);
    if (head.kind === "foreign") return head;
    if (head.kind !== "inbox" || (before !== null && head.seq !== before + 1)) return { why: "it does not count on" };
    const read = await readItem(message, head, session, blobs);
    return "why" in read ? read : { ...read, seq: head.seq, write: head.write, sequence: message.sequence };
  };

  const readAll = async (session: string): Promise<{ items: PlacedItem[]; sequence: number }> => {
    const messages = await stored.allOf(subjects.inbox(session));
    return { items: await fold(session, messages), sequence: messages.at(-1)?.sequence ?? 0 };
  };

  /** What came after a mark, one by one from the leader: as a rule that is nothing, or one. */
  const readAfter = async (mark: Mark): Promise<PlacedItem[]> => {
    const messages: Stored[] = [];
    const subject = subjects.inbox(mark.session);
    for (let from = mark.sequence + 1; ; from = (messages.at(-1)?.sequence ?? from) + 1) {
      const next = await stored.nextOf(subject, from);
      if (!next) return await fold(mark.session, messages, mark);
      messages.push(next);
    }
  };

  const remember = (session: string, items: readonly PlacedItem[], isWhole: boolean): void => {
    const last = items.at(-1);
    const isShort = isWhole && items.reduce((characters, { text }) => characters + text.length, 0) <= keptCharactersMax;
    if (last) marks.set(session, { session, seq: last.seq, sequence: last.sequence, items: isShort ? items : null });
  };

  const endOf = async (session: string): Promise<{ seq: number; sequence: number }> => {
    const message = await stored.lastOf(subjects.inbox(session));
    if (!message) return { seq: 0, sequence: 0 };
    const head = readHead(message.headers);
    if (head.kind === "inbox") return { seq: head.seq, sequence: message.sequence };
    const { items, sequence } = await readAll(session);
    return { seq: items.at(-1)?.seq ?? 0, sequence };
  };

  const append = async (item: InboxItem): Promise<{ seq: number }> => {
    const { session } = item;
    const write = randomUUID();
    const opens = beginsTurn(item) ? item.request.run : "";
    const { bytes, blob } = await toBody(JSON.stringify(item), blobs, link.payloadBytesMax);
    let end = await endOf(session);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const seq = end.seq + 1;
      const said = inboxHeaders({ seq, opens, write, blob }, end.sequence);
      const result = await publisher.publish({ subject: subjects.inbox(session), bytes, headers: said });
      if (result.kind === "stored") return { seq };
      if (result.kind === "refused") throw result.error;
      const { items, sequence } = await readAll(session);
      const mine = items.find((placed) => placed.write === write);
      if (mine) return { seq: mine.seq };
      end = { seq: items.at(-1)?.seq ?? 0, sequence };
    }
    throw new TroupeError("TIMEOUT", `an item for the inbox of ${session} did not get through at ${link.shown}`);
  };

  return {
    readAll,
    append: (item) => serial(item.session, () => append(item)),
    async read(session, afterSeq) {
      const mark = marks.get(session);
      const canGoOn = mark !== undefined && (mark.items !== null || mark.seq <= afterSeq);
      const items = canGoOn ? [...(mark.items ?? []), ...(await readAfter(mark))] : (await readAll(session)).items;
      remember(session, items, !canGoOn || mark.items !== null);
      return items.filter(({ seq }) => seq > afterSeq);
    },
    forget(session) {
      marks.deleteWhere((mark) => mark.session === session);
    },
  };
}
