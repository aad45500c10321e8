import type { DatabaseProblem } from "../database/problem.ts";

/** What the journal and its thread say to each other. Plain data: it is cloned on its way. */

export type Write =
  | { kind: "entries"; session: string; run: string; after: number; texts: string[]; terminal: boolean }
  /** `opens`: the root run that a turn of a session begins with. */
  | { kind: "inbox"; session: string; text: string; opens: string | null };

/** `position` and `index` are those of the first item stored; `known`: it was stored before, and nothing was now. */
export type WriteResult =
  | { kind: "stored"; position: number; index: number }
  | { kind: "known" }
  | { kind: "conflict"; lastIndex: number };

export type Read =
  | { kind: "run"; run: string; from: number }
  | { kind: "last"; run: string }
  | { kind: "inbox"; session: string; after: number }
  /** Of one session, or of all. */
  | { kind: "openRuns"; session: string | null }
  | { kind: "feed"; after: number };

export interface ReadResults {
  run: string[];
  last: string | null;
  inbox: { seq: number; text: string }[];
  openRuns: OpenRun[];
  feed: FeedRow[];
}

/** As core's port says it; core is not imported here, because the thread starts the faster for it. */
export interface OpenRun {
  session: string;
  run: string;
  lastIndex: number;
}

/** `run` is null for an item of the session's inbox, whose `idx` is its `seq`. */
export interface FeedRow {
  position: number;
  session: string;
  run: string | null;
  idx: number;
  text: string;
}

export type Command =
  | { id: number; kind: "write"; writes: Write[] }
  | { id: number; kind: "read"; read: Read }
  | { id: number; kind: "close" };

export type Answer = { id: number; value: unknown } | { id: number; problem: DatabaseProblem };

/** The thread's first message says whether it could open the file; all later ones are answers, in order. */
export type FromThread =
  | { kind: "ready"; tail: number; journalId: string }
  | { kind: "refused"; problem: DatabaseProblem }
  | { kind: "answers"; answers: Answer[] };
