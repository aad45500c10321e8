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
  /** Where to. It may have some of it already: what is there stays. */
  journal: Pick<Journal, "append" | "appendInbox" | "readInbox" | "readRun">;
  /** A feed as it was recorded, checked already: each run and each inbox whole and in order. */
  items: AsyncIterable<readonly FeedItem[]>;
  /** Told after each batch how many items are in the journal now. */
  onProgress?: (items: number) => void;
}

export interface RestoreEntriesReport {
  /** Items that are in the journal now, whether they were put there or found. */
  items: number;
  /** Runs, and inboxes (`run` is null), in which the journal has something else: they were left as they are. */
  parted: DivergedRun[];
}

export interface DivergedRun {
  session: string;
  run: string | null;
  /** The first place where they differ. */
  index: number;
}

type EntryItem = Extract<FeedItem, { kind: "entry" }>;
type InboxFeedItem = Extract<FeedItem, { kind: "inbox" }>;

/**
 * Puts a recorded feed back into a journal that was lost, or lost a part of it. It may be stopped at any moment and begun
 * again, and copies of several recorders may be put back one after the other: of each run the longest holds. Nobody else
 * must write meanwhile.
 *
 * @example
 * const { items, parted } = await putBack({ journal, items: record.copy.items() });
 */
export async function restoreEntries({
  journal,
  items,
  onProgress = () => {},
}: RestoreEntriesOptions): Promise<RestoreEntriesReport> {
  const runs = createRunRestorer(journal);
  const inboxes = createInboxRestorer(journal);
  const report: RestoreEntriesReport = { items: 0, parted: [] };
  const partedKeys = new Set<string>();

  const put = async (group: readonly FeedItem[]): Promise<void> => {
    const [first] = group;
    if (!first || partedKeys.has(keyOf(first))) return;
    const parted = isEntryGroup(group) ? await runs(group) : await inboxes(group as readonly InboxFeedItem[]);
    if (parted === null) {
      report.items += group.length;
      return;
    }
    partedKeys.add(keyOf(first));
    report.parted.push({ session: first.session, run: first.kind === "entry" ? first.run : null, index: parted });
  };

  for await (const batch of items) {
    // What was asked for comes before what became of it: found the other way round it would be asked for once more.
    const [inboxGroups, runGroups] = [grouped(batch.filter(isInboxItem)), grouped(batch.filter(isEntryItem))];
    await Promise.all(inboxGroups.map(put));
    await Promise.all(runGroups.map(put));
    onProgress(report.items);
  }
  return report;
}

/** What belongs to one run, or to one inbox: in order among themselves, and with the others at the same time. */
function grouped(batch: readonly FeedItem[]): FeedItem[][] {
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

/** Null, or the index at which the journal has something else. */
function createRunRestorer(journal: RestoreEntriesOptions["journal"]) {
  const append = async (items: readonly EntryItem[]): Promise<boolean> => {
    const [first, last] = [items[0], items.at(-1)];
    if (!first || !last) return true;
    const { session, run, index } = first;
    const terminal = isTerminal(openEntry(last.text));
    return (await journal.append({ session, run, after: index - 1, entries: items.map(toSealed), terminal })).ok;
  };

  /** Somebody was here before: what is there has to be the same, and the rest goes on after it. */
  const reconcile = async (items: readonly EntryItem[]): Promise<number | null> => {
    const [first] = items;
    if (!first) return null;
    const there = await journal.readRun(first.session, first.run, first.index);
    const other = items.findIndex(({ text }, i) => i < there.length && there[i] !== text);
    if (other >= 0) return first.index + other;
    const rest = items.slice(there.length);
    return (await append(rest)) ? null : first.index + there.length;
  };

  return async (items: readonly EntryItem[]): Promise<number | null> => {
    for (const part of inParts(items)) {
      if (await append(part)) continue;
      const parted = await reconcile(part);
      if (parted !== null) return parted;
    }
    return null;
  };
}

/** No larger than what travels in one message. */
function inParts(items: readonly EntryItem[]): EntryItem[][] {
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

function createInboxRestorer(journal: RestoreEntriesOptions["journal"]) {
  const inboxes = new Map<string, InboxItem[]>();

  const inboxOf = async (session: string): Promise<InboxItem[]> => {
    const known = inboxes.get(session);
    if (known) return known;
    const there = (await journal.readInbox(session)).map(({ item }) => item);
    inboxes.set(session, there);
    return there;
  };

  return async (items: readonly InboxFeedItem[]): Promise<number | null> => {
    const there = await inboxOf(items[0]?.session ?? "");
    for (const { session, seq, text } of items) {
      const item = decodeText(InboxItem, text, `inbox item ${seq} of session ${session}`);
      const known = there[seq - 1];
      if (known && canonicalJson(known) !== canonicalJson(item)) return seq;
      if (known) continue;
      const stored = await journal.appendInbox(asWritten(text));
      if (stored.seq !== seq) throw someoneElseWrites(session, seq, stored.seq);
      there.push(item);
    }
    return null;
  };
}

/** As it was, once it is known to be an item: what a schema gives back has another order, and lacks what is newer. */
function asWritten(text: string): InboxItem {
  return JSON.parse(text) as InboxItem;
}

function someoneElseWrites(session: string, wanted: number, got: number): TroupeError {
  const message = `item ${wanted} of the inbox of session ${session} became item ${got}: somebody else writes there`;
  return new TroupeError("CONFLICT", message, { fix: "stop every troupe of this namespace, and begin anew" });
}

function toSealed({ index, text }: EntryItem): SealedEntry {
  return { index, hash: text.slice(-66, -2), text };
}
