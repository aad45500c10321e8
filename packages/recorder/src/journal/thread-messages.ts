import type { DatabaseProblem } from "../database/database-error.ts";
import type { FeedRow } from "../database/feed-row.ts";
import type { RestoredJournalFile } from "./journal-store.ts";

/** Messages between the journal and its thread. They are plain data, because they are cloned. */

export type Write =
  | { kind: "entries"; session: string; run: string; after: number; texts: string[]; terminal: boolean }
  /** `opens` is the root run of a new turn. */
  | { kind: "inbox"; session: string; text: string; opens: string | null }
  /** A whole session, in the order of the feed. */
  | { kind: "session"; session: string; items: SessionItem[]; runs: SessionRun[] }
  /** Deletes whole sessions. */
  | { kind: "remove"; session: null; sessions: string[] };

/** `run` is null for an item of the inbox. */
export interface SessionItem {
  run: string | null;
  index: number;
  text: string;
}

export interface SessionRun {
  run: string;
  lastIndex: number;
  terminal: boolean;
}

/** `position` and `index` belong to the first stored item. `known`: the items had been stored before. */
export type WriteResult =
  | { kind: "stored"; position: number; index: number }
  | { kind: "known" }
  | { kind: "conflict"; lastIndex: number };

export type Read =
  | { kind: "run"; run: string; from: number }
  | { kind: "last"; run: string }
  | { kind: "inbox"; session: string; after: number }
  /** Null: of all sessions. */
  | { kind: "openRuns"; session: string | null }
  | { kind: "feed"; after: number }
  | { kind: "removed" };

export interface ReadResults {
  run: string[];
  last: string | null;
  inbox: { seq: number; text: string }[];
  openRuns: OpenRun[];
  feed: FeedRow[];
  removed: { session: string; lastPosition: number }[];
}

/** The same type as in core's port. This module does not import core, so that the thread starts fast. */
export interface OpenRun {
  session: string;
  run: string;
  lastIndex: number;
}

/** The first message to a thread, and again after it has closed a file. */
export interface OpenFile {
  kind: "open";
  file: string;
  restored?: RestoredJournalFile;
}

export type Command =
  | { id: number; kind: "write"; writes: Write[] }
  | { id: number; kind: "read"; read: Read }
  | { id: number; kind: "close" };

export type ThreadReply = { id: number; value: unknown } | { id: number; problem: DatabaseProblem };

/** The answer to `OpenFile` is `ready`, or `refused` and the end of the thread. All other messages are replies, in order. */
export type FromThread =
  | { kind: "ready"; tail: number; journalId: string }
  | { kind: "refused"; problem: DatabaseProblem }
  | { kind: "answers"; answers: ThreadReply[] };
