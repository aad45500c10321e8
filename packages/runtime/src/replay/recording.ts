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
 * What a session's journal says, in the one order in which it was written, and how far a replay has come with each run.
 * An answer is looked for from there on: what was answered before is no answer now.
 */
export interface Recording {
  session: string;
  items: readonly RecordedItem[];
  /** A run's entries; none for a run that never was. */
  entriesOf(run: string): readonly Entry[];
  /** The entries of all runs after a position. */
  after(position: number): Iterable<RecordedEntry>;
  /** Index of the newest entry that the replay has written of a run; -1 before its first. */
  endOf(run: string): number;
  /** The replay has written the run's entries up to this index. */
  written(run: string, index: number): void;
  /** The next entry that answers an effect of a run; undefined where there is none. */
  answerTo(run: string, effect: string): Entry | undefined;
}

/**
 * Reads a session out of a feed: that of a journal, or one that was kept in a file. Other sessions in it are passed over.
 *
 * @example
 * const recording = readRecording(await readFeed(journal), session);
 */
export function readRecording(feed: readonly FeedItem[], session: string): Recording {
  const items = feed.filter((item) => item.session === session).map(openItem);
  if (items.length === 0) {
    throw new TroupeError("UNKNOWN_SESSION", `there is no session ${session} in the record`, {
      fix: "troupe sessions ls",
    });
  }
  const places = new Map(items.map(({ position }, place) => [position, place]));
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
      const first = places.get(position) ?? items.length;
      for (let place = first + 1; place < items.length; place += 1) {
        const item = items[place];
        if (item?.kind === "entry") yield item;
      }
    },
    endOf,
    written: (run, index) => void ends.set(run, index),
    answerTo: (run, effect) =>
      (runs.get(run) ?? []).find((entry) => entry.index > endOf(run) && answeredEffect(entry) === effect),
  };
}

/** All that a journal has by now, of every session. */
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
