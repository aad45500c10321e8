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
import type { AgentList, RecordChange, Submitted } from "@troupe/core/internal";
import type { Control } from "troupe/internal";

/** What a subscriber of one session is sent. `resync`: too much was missed, load the session anew. */
export type ClientEvent =
  | { type: "change"; change: RecordChange }
  | { type: "live"; event: LiveEvent }
  | { type: "resync" };

/** The HTTP API of a running troupe, as far as the command line needs it. */
export interface TroupeClient extends Control, Pick<TroupeService, "hosts" | "drainHost"> {
  status(): Promise<DaemonStatus>;
  agents(workspace: string | null): Promise<AgentList>;
  submit(request: SubmitSession): Promise<Submitted>;
  /** Newest first, and the position that the record has reached. At most 500. */
  sessions(options: { limit: number }): Promise<{ position: number; sessions: SessionRow[] }>;
  /** Null, or `UNKNOWN_SESSION`, for one that the record does not have (yet). */
  session(session: string): Promise<SessionDetail | null>;
  response(session: string): Promise<RunResponse | null>;
  /** What was done to files, oldest first; `next` is null with the last page. */
  changes(of: { session: string }, options: { after: number }): Promise<{ changes: ChangeRow[]; next: number | null }>;
  /** Oldest first. */
  approvals(options: { waiting: boolean; limit: number }): Promise<{ position: number; approvals: ApprovalRow[] }>;
  events(options: { session: string; after: number; signal: AbortSignal }): AsyncIterable<ClientEvent>;
}

export function isSettled(status: string): boolean {
  return status !== "pending" && status !== "running";
}

/** A session that the record does not have (yet) is null, not an error. */
export async function sessionOrNull(client: Pick<TroupeClient, "session">, session: string) {
  try {
    return await client.session(session);
  } catch (error) {
    if (TroupeError.is(error) && error.code === "UNKNOWN_SESSION") return null;
    throw error;
  }
}

/** Asking for what is not there yet is answered with null or, over HTTP, with `CONFLICT`. */
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

/** Whether an error says that nobody was there to answer, rather than what the answer was. */
export function isOutOfReach(error: unknown): boolean {
  return TroupeError.is(error) && ["UNREACHABLE", "CLOSED", "TIMEOUT"].includes(error.code);
}
