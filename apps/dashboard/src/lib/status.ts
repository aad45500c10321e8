import type { SessionRow } from "@troupe/core";
import type { RecordStatus } from "@troupe/core/internal";

const active: ReadonlySet<RecordStatus> = new Set(["pending", "running"]);
const failure: ReadonlySet<RecordStatus> = new Set(["failed", "timeout"]);

/** Whether more is to come. */
export function isActive(row: { status: RecordStatus }): boolean {
  return active.has(row.status);
}

/** What an operator has to look at. A cancel was somebody's wish, so it is none. */
export function isFailure(row: { status: RecordStatus }): boolean {
  return failure.has(row.status);
}

/** A row as far as its badge is concerned. */
export interface Standing {
  status: RecordStatus;
  exactStatus?: string;
  queuePosition?: number | null;
}

/** What a run that goes on is really at. Each has a glyph and a colour of its own. */
const standstills = ["queued", "waiting", "paused", "parked"] as const;

export type StatusKind = RecordStatus | (typeof standstills)[number];

/** The record's status, or what stands still in it. */
export function statusKind(row: Standing): StatusKind {
  const standstill = standstills.find((kind) => kind === row.exactStatus);
  return standstill !== undefined && isActive(row) ? standstill : row.status;
}

/**
 * The words of a badge: the machine's own where they are finer than the record's.
 *
 * @example
 * statusWord({ status: "pending", exactStatus: "queued", queuePosition: 3 }); // "queued 3"
 */
export function statusWord(row: Standing): string {
  const kind = statusKind(row);
  if (kind !== row.exactStatus && standstills.some((standstill) => standstill === row.exactStatus)) return kind;
  if (kind === "waiting") return "waiting for approval";
  if (kind === "queued" && typeof row.queuePosition === "number") return `queued ${row.queuePosition}`;
  return (row.exactStatus || row.status).replaceAll("_", " ");
}

const bailouts: Readonly<Record<string, string>> = {
  max_iterations: "all its steps were used",
  max_tool_calls: "all its tool calls were used",
  max_tokens: "all its tokens were used",
  max_cost: "all that it may cost was spent",
  max_context: "its conversation outgrew the model",
  timeout: "its time was over",
  repeated_calls: "repeated calls: the same call with the same arguments, again and again",
};

/** Which limit ended a run, in words. */
export function bailoutWords(reason: string): string {
  return bailouts[reason] ?? reason.replaceAll("_", " ");
}

/** Said wherever a demo's rows are shown. */
export const demoLabel = "Demo: scripted, no model was called";

/** When a session was asked something last: once, or in its newest turn. */
export function askedAt({ startedAt, turnStartedAt }: Pick<SessionRow, "startedAt" | "turnStartedAt">): number {
  return Date.parse(turnStartedAt ?? startedAt);
}
