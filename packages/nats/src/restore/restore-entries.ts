import { type FeedItem, InboxItem, type Journal, TroupeError } from "@troupe/core";
import {
  canonicalJson,
  decodeText,
  inlineBytesMax,
  isTerminal,
  openEntry,
  type SealedEntry,
} from "@troupe/core/internal";

export interface RestoreEntriesOptions {
  /** The journal to restore into. Existing entries stay. */
  journal: Pick<Journal, "append" | "appendInbox" | "readInbox" | "readRun">;
  /** A recorded and verified feed: each run and each inbox is complete and in order. */
  items: AsyncIterable<readonly FeedItem[]>;
  /** Called after each batch with the number of items that the journal has now. */
  onProgress?: (items: number) => void;
}

export interface RestoreEntriesReport {
  /** Items of the feed that the journal has now, restored or found. */
  items: number;
  /** Runs and inboxes (`run` is null) with other content in the journal. They were not changed. */
  parted: DivergedRun[];
}

export interface DivergedRun {
  session: string;
  run: string | null;
  /** The first index with different content. */
  index: number;
}

type EntryItem = Extract<FeedItem, { kind: "entry" }>;
type InboxFeedItem = Extract<FeedItem, { kind: "inbox" }>;

/**
 * Restores a recorded feed into a journal that was lost in whole or in part. An interrupted restore can be repeated. The
 * copies of several recorders can be restored one after the other: the longest version of each run stays. No other process
 * may write meanwhile.
 *
 * @example
 * const { items, parted } = await restoreEntries({ journal, items: record.copy.items() });
 */
export async function restoreEntries({
  journal,
  items,
  onProgress = () => {},
}: RestoreEntriesOptions): Promise<RestoreEntriesReport> {
  const restoreRun = createRunRestorer(journal);
  const restoreInbox = createInboxRestorer(journal);
  const report: RestoreEntriesReport = { items: 0, parted: [] };
  const divergedKeys = new Set<string>();

  const restoreGroup = async (group: readonly FeedItem[]): Promise<void> => {
    const [first] = group;
    if (!first || divergedKeys.has(keyOf(first))) return;
    const index = isEntryGroup(group) ? await restoreRun(group) : await restoreInbox(group as readonly InboxFeedItem[]);
    if (index === null) {
      report.items += group.length;
      return;
    }
    divergedKeys.add(keyOf(first));
    report.parted.push({ session: first.session, run: first.kind === "entry" ? first.run : null, index });
  };

  for await (const batch of items) {
    // Inboxes first: hosts would treat a request that arrives after its run as a new one.
    const [inboxGroups, runGroups] = [groupByKey(batch.filter(isInboxItem)), groupByKey(batch.filter(isEntryItem))];
    await Promise.all(inboxGroups.map(restoreGroup));
    await Promise.all(runGroups.map(restoreGroup));
    onProgress(report.items);
  }
  return report;
}

/** Groups items by run or inbox. A group is restored in order, and different groups at the same time. */
function groupByKey(batch: readonly FeedItem[]): FeedItem[][] {
  const groups = new Map<string, FeedItem[]>();
  for (const item of batch) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}

function keyOf(item: FeedItem): string {
  return item.kind === "entry" ? item.run : `inbox ${item.session}`;
}

function isInboxItem(item: FeedItem): item is InboxFeedItem {
  return item.kind === "inbox";
}

function isEntryItem(item: FeedItem): item is EntryItem {
  return item.kind === "entry";
}

function isEntryGroup(group: readonly FeedItem[]): group is readonly EntryItem[] {
  return group[0]?.kind === "entry";
}

/** The returned function resolves to null, or to the first index at which the journal has other content. */
function createRunRestorer(journal: RestoreEntriesOptions["journal"]) {
  const append = async (items: readonly EntryItem[]): Promise<boolean> => {
    const [first, last] = [items[0], items.at(-1)];
    if (!first || !last) return true;
    const { session, run, index } = first;
    const terminal = isTerminal(openEntry(last.text));
    return (await journal.append({ session, run, after: index - 1, entries: items.map(toSealedEntry), terminal })).ok;
  };

  /** Compares the items with the entries that the journal has already, and appends the rest. */
  const complete = async (items: readonly EntryItem[]): Promise<number | null> => {
    const [first] = items;
    if (!first) return null;
    const existing = await journal.readRun(first.session, first.run, first.index);
    const different = items.findIndex(({ text }, i) => i < existing.length && existing[i] !== text);
    if (different >= 0) return first.index + different;
    const rest = items.slice(existing.length);
    return (await append(rest)) ? null : first.index + existing.length;
  };

  return async (items: readonly EntryItem[]): Promise<number | null> => {
    for (const part of toMessageSizes(items)) {
      if (await append(part)) continue;
      const different = await complete(part);
      if (different !== null) return different;
    }
    return null;
  };
}

/** Splits items into parts that each fit into one message. */
function toMessageSizes(items: readonly EntryItem[]): EntryItem[][] {
  const parts: EntryItem[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const size = Buffer.byteLength(item.text) + 1;
    if (bytes + size > inlineBytesMax) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(item);
    bytes += size;
  }
  return parts;
}

/** The returned function resolves to null, or to the number of the first item with other content in the journal. */
function createInboxRestorer(journal: RestoreEntriesOptions["journal"]) {
  const inboxes = new Map<string, InboxItem[]>();

  const inboxOf = async (session: string): Promise<InboxItem[]> => {
    const known = inboxes.get(session);
    if (known) return known;
    const existing = (await journal.readInbox(session)).map(({ item }) => item);
    inboxes.set(session, existing);
    return existing;
  };

  return async (items: readonly InboxFeedItem[]): Promise<number | null> => {
    const existing = await inboxOf(items[0]?.session ?? "");
    for (const { session, seq, text } of items) {
      const item = decodeText(InboxItem, text, `inbox item ${seq} of session ${session}`);
      const known = existing[seq - 1];
      if (known && canonicalJson(known) !== canonicalJson(item)) return seq;
      if (known) continue;
      const stored = await journal.appendInbox(parseVerified(text));
      if (stored.seq !== seq) throw concurrentWriter(session, seq, stored.seq);
      existing.push(item);
    }
    return null;
  };
}

/** Keeps the original form of a verified item: the schema would reorder its fields and drop unknown ones. */
function parseVerified(text: string): InboxItem {
  return JSON.parse(text) as InboxItem;
}

function concurrentWriter(session: string, wanted: number, got: number): TroupeError {
  const message = `item ${wanted} of the inbox of session ${session} became item ${got}: another process writes there`;
  return new TroupeError("CONFLICT", message, { fix: "stop every troupe of this namespace, and restore again" });
}

function toSealedEntry({ index, text }: EntryItem): SealedEntry {
  return { index, hash: text.slice(-66, -2), text };
}
