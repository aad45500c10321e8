import { hash } from "node:crypto";
import type { Entry, FeedItem } from "@troupe/core";
import { entryIsIntact, openEntry } from "@troupe/core/internal";
import type Database from "better-sqlite3";
import type { RunDraft } from "./draft.ts";

export type EntryItem = Extract<FeedItem, { kind: "entry" }>;

export type Verdict =
  /** Goes on where the run stands: it counts. */
  | { kind: "next"; entry: Entry }
  /** Known already: nothing changes. */
  | { kind: "known" }
  /** Belongs to another line of the same run: kept, and does not count. `alarm` on the first of them. */
  | { kind: "fork"; entry: Entry; alarm: boolean }
  | { kind: "bad"; reason: string };

/** Judges entries against what is stored of their run. */
export function createEntryCheck(database: Database.Database): (item: EntryItem, draft: RunDraft | null) => Verdict {
  const hashesAt = database
    .prepare<[string, number], string>("SELECT hash FROM entries WHERE run_id = ? AND idx = ?")
    .pluck();
  const quarantinedAt = database
    .prepare<[string, number], number>("SELECT count(*) FROM quarantine WHERE run_id = ? AND idx = ?")
    .pluck();

  /** The one before it was set aside: the gap has been reported, and the run goes on. */
  const followsGap = (run: string, index: number, draft: RunDraft | null): boolean =>
    (draft === null || index > draft.headIndex) && (quarantinedAt.get(run, index - 1) ?? 0) > 0;

  const place = (entry: Entry, draft: RunDraft | null): Verdict => {
    const { run, index, hash, prev } = entry;
    const here = hashesAt.all(run, index);
    if (here.includes(hash)) return { kind: "known" };
    const before = hashesAt.all(run, index - 1);
    const follows = index === 0 ? prev === null : prev !== null && before.includes(prev);
    if (follows && here.length > 0) return { kind: "fork", entry, alarm: true };
    if (follows) return draft ? { kind: "fork", entry, alarm: false } : { kind: "next", entry };
    const isFirstKnown = here.length === 0 && before.length === 0;
    if (isFirstKnown && followsGap(run, index, draft)) return { kind: "next", entry };
    return { kind: "bad", reason: `does not follow on entry ${index - 1}: the chain is broken` };
  };

  return (item, draft) => {
    const opened = openTrusted(item);
    if ("reason" in opened) return { kind: "bad", reason: opened.reason };
    const { entry } = opened;
    const isNext = draft !== null && entry.index === draft.headIndex + 1 && entry.prev === draft.headHash;
    return isNext ? { kind: "next", entry } : place(entry, draft);
  };
}

/** What the bytes alone can tell. */
function openTrusted(item: EntryItem): { entry: Entry } | { reason: string } {
  if (!entryIsIntact(item.text, sha256)) return { reason: "its hash does not fit its bytes" };
  try {
    const entry = openEntry(item.text);
    const isHome = entry.run === item.run && entry.session === item.session && entry.index === item.index;
    return isHome ? { entry } : { reason: `says that it is entry ${entry.index} of run ${entry.run}` };
  } catch (thrown) {
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** Recognises an item of the feed. */
export function markOf(item: FeedItem): string {
  return sha256(item.text);
}

/** The platform's own: four times as fast as the portable one of core. */
function sha256(text: string): string {
  return hash("sha256", text);
}
