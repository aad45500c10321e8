import { type Entry, type FeedItem, InboxItem, type Journal, TroupeError } from "@troupe/core";
import { answeredEffect, entryIsIntact, openEntry } from "@troupe/core/internal";
import { sha256 } from "../host/run/seal-entries.ts";

export interface RecordedEntry {
  kind: "entry";
  position: number;
  entry: Entry;
  isIntact: boolean;
}

export type RecordedItem = RecordedEntry | { kind: "inbox"; position: number; seq: number; item: InboxItem };

/**
 * A session's journal in its recorded order, with the progress of a replay for each run. Recorded outcomes are found
 * only after that progress, so the replay uses each outcome once.
 */
export interface Recording {
  session: string;
  items: readonly RecordedItem[];
  /** The entries of a run; empty for an unknown run. */
  entriesOf(run: string): readonly Entry[];
  /** The entries of all runs after a position. */
  after(position: number): Iterable<RecordedEntry>;
  /** Index of the newest entry that the replay wrote for a run; -1 before the first. */
  endOf(run: string): number;
  /** Records that the replay wrote the run's entries up to this index. */
  written(run: string, index: number): void;
  /** The next recorded outcome of an effect; undefined if none was recorded. */
  answerTo(run: string, effect: string): Entry | undefined;
}

/**
 * Reads one session from a feed, which comes from a journal or from a file. Other sessions in the feed are skipped.
 *
 * @example
 * const recording = readRecording(await readFeed(journal), session);
 */
export function readRecording(feed: readonly FeedItem[], session: string): Recording {
  const items = feed.filter((item) => item.session === session).map(openItem);
  if (items.length === 0) {
    throw new TroupeError("UNKNOWN_SESSION", `the recording has no session ${session}`, {
      fix: "troupe sessions ls",
    });
  }
  const indexes = new Map(items.map(({ position }, index) => [position, index]));
  const runs = new Map<string, Entry[]>();
  for (const item of items) {
    if (item.kind !== "entry") continue;
    const entries = runs.get(item.entry.run);
    if (entries) entries.push(item.entry);
    else runs.set(item.entry.run, [item.entry]);
  }
  const ends = new Map<string, number>();
  const endOf = (run: string): number => ends.get(run) ?? -1;
  return {
    session,
    items,
    entriesOf: (run) => runs.get(run) ?? [],
    *after(position) {
      const start = indexes.get(position) ?? items.length;
      for (let index = start + 1; index < items.length; index += 1) {
        const item = items[index];
        if (item?.kind === "entry") yield item;
      }
    },
    endOf,
    written: (run, index) => void ends.set(run, index),
    answerTo: (run, effect) =>
      (runs.get(run) ?? []).find((entry) => entry.index > endOf(run) && answeredEffect(entry) === effect),
  };
}

/**
 * Reads all items that a journal has now, of all sessions.
 *
 * @example
 * await writeFile("session.json", JSON.stringify(await readFeed(journal)));
 */
export async function readFeed(journal: Pick<Journal, "tail" | "watch">): Promise<FeedItem[]> {
  const tail = await journal.tail();
  const feed: FeedItem[] = [];
  if (tail === 0) return feed;
  const done = new AbortController();
  for await (const batch of journal.watch({ after: 0, signal: done.signal })) {
    feed.push(...batch);
    if ((feed.at(-1)?.position ?? 0) >= tail) break;
  }
  done.abort();
  return feed.filter(({ position }) => position <= tail);
}

function openItem(item: FeedItem): RecordedItem {
  const { position, text } = item;
  if (item.kind === "inbox") return { kind: "inbox", position, seq: item.seq, item: InboxItem.parse(JSON.parse(text)) };
  return { kind: "entry", position, entry: openEntry(text), isIntact: entryIsIntact(text, sha256) };
}
