import type { SealedEntry } from "../protocol/entry.ts";
import type { InboxItem } from "../protocol/inbox.ts";
import type { JournalArchive } from "./session-archive.ts";

/**
 * The source of truth for every run, and the inbox of every session.
 *
 * Guarantees: an append is atomic, and durable when it resolves. A run's entries are contiguous from 0. Of two writers at
 * one index, exactly one wins. The feed has one fixed order.
 *
 * @example
 * const result = await journal.append({ session, run, after: -1, entries: [sealEntry(head, body)], terminal: false });
 * if (!result.ok) console.log(`another writer has reached index ${result.lastIndex}`);
 */
export interface Journal {
  /**
   * Identifies this journal. Positions are valid for this id only. A journal that was lost and created anew has another
   * id; a restored journal has its old one.
   */
  id(): Promise<string>;
  /**
   * Appends if the run's last index is `after` (-1: the run has no entry yet). A repeated append of identical entries
   * succeeds, so a writer that lost the reply can retry. Rejects with `INVALID_MESSAGE` if the indexes do not continue
   * from `after`.
   */
  append(append: RunAppend): Promise<AppendResult>;
  /** Texts of a run's entries from an index on. Empty for an unknown run. */
  readRun(session: string, run: string, from?: number): Promise<string[]>;
  /** Text of the run's last entry; null for an unknown run. */
  lastOf(session: string, run: string): Promise<string | null>;
  /** Appends to the session's inbox without compare-and-set. `seq` counts from 1 within the session. */
  appendInbox(item: InboxItem): Promise<{ seq: number }>;
  readInbox(session: string, afterSeq?: number): Promise<{ seq: number; item: InboxItem }[]>;
  /** Runs without a terminal entry and requested sessions, oldest first. */
  openRuns(of?: { session: string }): Promise<OpenRun[]>;
  /** Position of the newest item of the feed; 0 if there is none. */
  tail(): Promise<number>;
  /**
   * All items after a position in order: stored ones first, then new ones, until `signal` aborts or the journal closes.
   * Batches are never empty.
   */
  watch(options: WatchOptions): AsyncIterable<FeedItem[]>;
  /**
   * Saves that a follower has stored everything up to a position. A journal never deletes an item before all
   * of its followers have stored it.
   */
  checkpoint(follower: string, position: number): Promise<void>;
  /** Stores and deletes whole sessions. Absent: this journal cannot. */
  readonly archive?: JournalArchive;
  close(): Promise<void>;
}

export interface WatchOptions {
  after: number;
  signal: AbortSignal;
  /** Name under which the reader saves its checkpoints. Absent: the reader saves none. */
  follower?: string;
}

export interface RunAppend {
  session: string;
  run: string;
  /** Index of the entry before the first of these. */
  after: number;
  entries: SealedEntry[];
  /** Whether the last of these settles the run. */
  terminal: boolean;
}

/** `conflict`: another writer used that index, or the run is settled. Nothing was stored. */
export type AppendResult = { ok: true } | { ok: false; reason: "conflict"; lastIndex: number };

export interface OpenRun {
  session: string;
  run: string;
  /** -1 for a requested session that no host has taken. */
  lastIndex: number;
  /** Age of its newest entry; absent if the journal does not know it. */
  idleMs?: number;
}

/** `position` is opaque and increases. Pass the last one to `watch` to continue after it. */
export type FeedItem =
  | { position: number; kind: "entry"; session: string; run: string; index: number; text: string }
  | { position: number; kind: "inbox"; session: string; seq: number; text: string };
