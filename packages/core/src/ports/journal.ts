import type { SealedEntry } from "../protocol/entry.ts";
import type { InboxItem } from "../protocol/inbox.ts";

/**
 * The truth about every run, and each run's mailbox.
 *
 * Promises: an append is all or nothing and durable when it resolves; a run's entries are contiguous from 0; of two
 * writers at one index exactly one wins; the feed shows everything in one order that never changes.
 */
export interface Journal {
  /**
   * Tells this journal from every other one: as long as it stays the same, positions mean the same. A journal that was
   * lost and begun anew has another; one that was restored has the old one.
   */
  id(): Promise<string>;
  /**
   * Appends if the run's last index is `after` (-1: the run has no entry yet). An append whose entries are stored
   * already, byte for byte, succeeds again: that is how a writer that lost the answer asks anew. Rejects with
   * `INVALID_MESSAGE` when the entries do not count on from `after`.
   */
  append(append: RunAppend): Promise<AppendResult>;
  /** The texts of a run's entries in order, from an index on. Empty for an unknown run. */
  readRun(session: string, run: string, from?: number): Promise<string[]>;
  /** Text of the run's last entry, or null. */
  lastOf(session: string, run: string): Promise<string | null>;
  /** Appends to the session's inbox without compare-and-set; `seq` counts from 1 within the session. */
  appendInbox(item: InboxItem): Promise<{ seq: number }>;
  readInbox(session: string, afterSeq?: number): Promise<{ seq: number; item: InboxItem }[]>;
  /** Runs and requested sessions that have no terminal entry, oldest first. */
  openRuns(of?: { session: string }): Promise<OpenRun[]>;
  /** Position of the newest item of the feed; 0 while there is none. */
  tail(): Promise<number>;
  /**
   * Everything after a position, in order, first what is stored and then what comes, until `signal` aborts or the
   * journal is closed. Batches are never empty.
   */
  watch(options: WatchOptions): AsyncIterable<FeedItem[]>;
  /**
   * A follower has everything up to a position for good. A journal that lets go of what is old lets go of nothing that
   * one of its followers does not have.
   */
  checkpoint(follower: string, position: number): Promise<void>;
  close(): Promise<void>;
}

export interface WatchOptions {
  after: number;
  signal: AbortSignal;
  /** Name of somebody who says with `kept` how far he is, and comes back under that name. Absent: a mere onlooker. */
  follower?: string;
}

export interface RunAppend {
  session: string;
  run: string;
  /** Index of the entry that the first of these follows. */
  after: number;
  entries: SealedEntry[];
  /** Whether the last of these settles the run. */
  terminal: boolean;
}

/** `conflict`: somebody else wrote at that index, or the run is settled. Nothing of this append was stored. */
export type AppendResult = { ok: true } | { ok: false; reason: "conflict"; lastIndex: number };

/** `lastIndex` is -1 for a requested session that no host has taken yet. */
export interface OpenRun {
  session: string;
  run: string;
  lastIndex: number;
  /** How long ago its newest entry was written; absent where the journal does not know. */
  idleMs?: number;
}

/** `position` is opaque but grows: hand the last one back to go on after it. */
export type FeedItem =
  | { position: number; kind: "entry"; session: string; run: string; index: number; text: string }
  | { position: number; kind: "inbox"; session: string; seq: number; text: string };
