import type { ApprovalRow, ChangeRow, RecordChange, RunRow, SessionDetail, SessionRow } from "../protocol/api.ts";
import type { RunResponse } from "../protocol/response.ts";

/** What the recorder answers. Rows lag behind the journal by one batch; `position` says how far they are. */
export interface RecordReader {
  /** Journal position that the rows include. */
  position(): number;
  /** Newest first. */
  sessions(options: { limit: number }): Promise<SessionRow[]>;
  session(session: string): Promise<SessionDetail | null>;
  /** The response of the newest turn, once that has settled. */
  response(session: string): Promise<RunResponse | null>;
  run(run: string): Promise<RunRow | null>;
  /** Oldest first. `waiting`: those that nobody has answered, the ones that wait longest; otherwise the newest of all. */
  approvals(options: { waiting: boolean; limit: number }): Promise<ApprovalRow[]>;
  approval(id: string): Promise<ApprovalRow | null>;
  /** What was done to files, by a run or by all of a session, oldest first; those after the one of that id. */
  changes(of: { session: string } | { run: string }, options: { after: number; limit: number }): Promise<ChangeRow[]>;
  /** Raw entries of a run, as stored, from an index on. */
  entries(run: string, options: { from: number; limit: number }): Promise<string[]>;
  /** Current rows of everything touched after a position; null when that is too much to send: load anew. */
  changesSince(position: number): Promise<RecordChange | null>;
  /** Calls back after each committed batch. Returns the unsubscriber. */
  onChange(listener: (change: RecordChange) => void): () => void;
}
