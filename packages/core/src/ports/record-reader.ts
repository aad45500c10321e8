import type { AgentStatsList } from "../protocol/agent-stats.ts";
import type { ApprovalRow, ChangeRow, RecordChange, RunRow, SessionDetail, SessionRow } from "../protocol/api.ts";
import type { RunResponse } from "../protocol/response.ts";
import type { TimelinePage } from "../protocol/timeline.ts";
import type { UndoRow } from "../protocol/undo.ts";
import type { RecordQueries } from "./record-queries.ts";

/** Queries of the record. Its rows lag behind the journal by one batch; `position` is their journal position. */
export interface RecordReader {
  /** Questions about the whole record: search, costs, totals, trees and conversations. */
  readonly queries: RecordQueries;
  /** Journal position up to which the rows are current. */
  position(): number;
  /** Newest first. */
  sessions(options: { limit: number }): Promise<SessionRow[]>;
  session(session: string): Promise<SessionDetail | null>;
  /** The response of the newest turn; null until it settles. */
  response(session: string): Promise<RunResponse | null>;
  run(run: string): Promise<RunRow | null>;
  /** Oldest first. `waiting`: the open approvals that wait longest; otherwise the newest approvals of any state. */
  approvals(options: { waiting: boolean; limit: number }): Promise<ApprovalRow[]>;
  approval(id: string): Promise<ApprovalRow | null>;
  /** File changes of a run or session after the given id, oldest first. */
  changes(of: { session: string } | { run: string }, options: { after: number; limit: number }): Promise<ChangeRow[]>;
  /** Undos of a session's runs, oldest first. */
  undos(session: string): Promise<UndoRow[]>;
  /** Success, time and cost of the agents' settled runs that ended since a time. Reads a bounded number of the newest runs. */
  agentStats(options: { sinceMs: number }): Promise<AgentStatsList>;
  /** When the runs of a session worked and waited: the events after a place of the record. */
  timeline(session: string, options: { after: number; limit: number }): Promise<TimelinePage>;
  /** Stored entries of a run from an index on. */
  entries(run: string, options: { from: number; limit: number }): Promise<string[]>;
  /** Current rows of everything changed after a position; null if there are too many, so that the caller has to reload. */
  changesSince(position: number): Promise<RecordChange | null>;
  /** Calls the listener after each committed batch. Returns the unsubscriber. */
  onChange(listener: (change: RecordChange) => void): () => void;
}
