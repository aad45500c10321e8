import type { ForkRequest, SessionForked, SessionImported, SessionsRemoved } from "../protocol/session-archive.ts";

/** Changes to whole sessions: they need the process that owns the home. */
export interface SessionArchive {
  /** Stores an exported session. Fails with `INVALID_EXPORT` if the text is not a complete, intact export. */
  import(text: string): Promise<SessionImported>;
  /** Begins a new session with the finished part of another one. Fails with `USAGE` for a step that is not settled. */
  fork(session: string, request: ForkRequest): Promise<SessionForked>;
  /** Deletes settled sessions with all that belongs to them alone. A session that works or waits is kept. */
  remove(sessions: readonly string[]): Promise<SessionsRemoved>;
}

/** Changes to whole sessions in a journal. */
export interface JournalArchive {
  /** Stores all items of a session in one transaction. `conflict`: the journal has another session with this id. */
  add(session: JournalSession): Promise<"added" | "known" | "conflict">;
  /** Deletes sessions in one transaction, and remembers that they were removed. */
  remove(sessions: readonly string[]): Promise<void>;
  /** Sessions that were removed, each with the position of its last item. */
  removed(): Promise<RemovedSession[]>;
}

/** All items of a session, in the order of the feed. */
export interface JournalSession {
  session: string;
  /** `run` is null for an item of the inbox; its index is then its sequence number. */
  items: readonly { run: string | null; index: number; text: string }[];
  runs: readonly { run: string; lastIndex: number; terminal: boolean }[];
}

export interface RemovedSession {
  session: string;
  lastPosition: number;
}
