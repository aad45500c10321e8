import {
  type ApprovalRow,
  type ChangeRow,
  type DaemonStatus,
  type LiveEvent,
  type RunResponse,
  type SessionDetail,
  type SessionRow,
  type SubmitSession,
  TroupeError,
  type TroupeService,
} from "@troupe/core";
import type { AgentList, AgentStatsList, RecordChange, RecordQueries, Submitted } from "@troupe/core/internal";
import type { Control } from "troupe/internal";

/** An event of one session. `resync`: too many events were missed, so the reader loads the session again. */
export type ClientEvent =
  | { type: "change"; change: RecordChange }
  | { type: "live"; event: LiveEvent }
  | { type: "resync" };

/** The part of a running troupe's API that the command line uses. */
export interface TroupeClient
  extends Control,
    Pick<TroupeService, "hosts" | "drainHost" | "sessionFiles" | "sessionArchive" | "webhooks"> {
  status(): Promise<DaemonStatus>;
  agents(workspace: string | null): Promise<AgentList>;
  agentStats(windowMs: number): Promise<AgentStatsList>;
  /** Search, costs, totals, trees and conversations of the record. */
  readonly queries: RecordQueries;
  submit(request: SubmitSession): Promise<Submitted>;
  /** Newest first, with the record's position. At most 500. */
  sessions(options: { limit: number }): Promise<{ position: number; sessions: SessionRow[] }>;
  /** Null, or a rejection with `UNKNOWN_SESSION`, if the record does not have the session yet. */
  session(session: string): Promise<SessionDetail | null>;
  response(session: string): Promise<RunResponse | null>;
  /** File changes, oldest first; `next` is null on the last page. */
  changes(of: { session: string }, options: { after: number }): Promise<{ changes: ChangeRow[]; next: number | null }>;
  /** Oldest first. */
  approvals(options: { waiting: boolean; limit: number }): Promise<{ position: number; approvals: ApprovalRow[] }>;
  events(options: { session: string; after: number; signal: AbortSignal }): AsyncIterable<ClientEvent>;
}

export function isSettled(status: string): boolean {
  return status !== "pending" && status !== "running";
}

/** Null for a session that the record does not have yet. */
export async function sessionOrNull(client: Pick<TroupeClient, "session">, session: string) {
  try {
    return await client.session(session);
  } catch (error) {
    if (TroupeError.is(error) && error.code === "UNKNOWN_SESSION") return null;
    throw error;
  }
}

/** Null until the session has settled. Over HTTP that state is a `CONFLICT`. */
export async function responseOrNull(
  client: Pick<TroupeClient, "response">,
  session: string,
): Promise<RunResponse | null> {
  try {
    return await client.response(session);
  } catch (error) {
    if (TroupeError.is(error) && (error.code === "CONFLICT" || error.code === "UNKNOWN_SESSION")) return null;
    throw error;
  }
}

/** True for an error that means that no process answered. */
export function isOutOfReach(error: unknown): boolean {
  return TroupeError.is(error) && ["UNREACHABLE", "CLOSED", "TIMEOUT"].includes(error.code);
}
