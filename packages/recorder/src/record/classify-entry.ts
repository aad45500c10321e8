import { hash } from "node:crypto";
import type { Entry, FeedItem } from "@troupe/core";
import { entryIsIntact, openEntry } from "@troupe/core/internal";
import type { Database } from "../database/sqlite.ts";
import type { RunRecord } from "./run-columns.ts";

export type EntryItem = Extract<FeedItem, { kind: "entry" }>;

export type EntryClass =
  /** Follows the head of its run: it is applied. */
  | { kind: "next"; entry: Entry }
  /** Stored before: nothing changes. */
  | { kind: "known" }
  /** Belongs to another branch of the run: it is stored but not applied. `isFirst` marks the first entry of the branch. */
  | { kind: "fork"; entry: Entry; isFirst: boolean }
  | { kind: "bad"; reason: string };

/** Compares entries with the stored entries of their run. */
export function createEntryClassifier(database: Database): (item: EntryItem, record: RunRecord | null) => EntryClass {
  const hashesAt = database.prepareValue<[string, number], string>(
    "SELECT hash FROM entries WHERE run_id = ? AND idx = ?",
  );
  const quarantinedAt = database.prepareValue<[string, number], number>(
    "SELECT count(*) FROM quarantine WHERE run_id = ? AND idx = ?",
  );

  /** True if the previous entry is in quarantine: the gap has been reported, and the run continues. */
  const followsGap = (run: string, index: number, record: RunRecord | null): boolean =>
    (record === null || index > record.headIndex) && (quarantinedAt.get(run, index - 1) ?? 0) > 0;

  const compare = (entry: Entry, record: RunRecord | null): EntryClass => {
    const { run, index, hash, prev } = entry;
    const stored = hashesAt.all(run, index);
    if (stored.includes(hash)) return { kind: "known" };
    const before = hashesAt.all(run, index - 1);
    const follows = index === 0 ? prev === null : prev !== null && before.includes(prev);
    if (follows && stored.length > 0) return { kind: "fork", entry, isFirst: true };
    if (follows) return record ? { kind: "fork", entry, isFirst: false } : { kind: "next", entry };
    const isFirstKnown = stored.length === 0 && before.length === 0;
    if (isFirstKnown && followsGap(run, index, record)) return { kind: "next", entry };
    return { kind: "bad", reason: `does not follow entry ${index - 1}: the hash chain is broken` };
  };

  return (item, record) => {
    const opened = verify(item);
    if ("reason" in opened) return { kind: "bad", reason: opened.reason };
    const { entry } = opened;
    const isNext = record !== null && entry.index === record.headIndex + 1 && entry.prev === record.headHash;
    return isNext ? { kind: "next", entry } : compare(entry, record);
  };
}

/** Checks that need only the bytes of the item. */
function verify(item: EntryItem): { entry: Entry } | { reason: string } {
  if (!entryIsIntact(item.text, sha256)) return { reason: "does not match its hash" };
  try {
    const entry = openEntry(item.text);
    const isOwn = entry.run === item.run && entry.session === item.session && entry.index === item.index;
    return isOwn ? { entry } : { reason: `claims to be entry ${entry.index} of run ${entry.run}` };
  } catch (thrown) {
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** A hash that identifies an item of the feed. */
export function itemHash(item: Pick<FeedItem, "text">): string {
  return sha256(item.text);
}

/** Node's implementation is four times as fast as the portable one of core. */
function sha256(text: string): string {
  return hash("sha256", text);
}
