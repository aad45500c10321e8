import type { ApprovalRow } from "@troupe/core";
import { reveal } from "./reveal.ts";

/** Answered and withdrawn approvals that are kept; the waiting ones always are. */
export const settledMax = 500;

/** What was asked, in a word or two: it stands in sentences after the agent's name. */
export function subjectOf({ tool }: Pick<ApprovalRow, "tool">): string {
  return tool === null ? "its whole run" : reveal(tool);
}

/** Those that wait, of one session or of all. */
export function waitingOf(rows: readonly ApprovalRow[] | null, session?: string): ApprovalRow[] {
  return (rows ?? []).filter((row) => row.state === "waiting" && (session === undefined || row.session === session));
}

/** Those that need no answer any more, of whatever session: the last to be settled first. */
export function settledOf(rows: readonly ApprovalRow[] | null): ApprovalRow[] {
  const settledAt = ({ answeredAt, requestedAt }: ApprovalRow): string => answeredAt ?? requestedAt;
  return (rows ?? [])
    .filter(({ state }) => state !== "waiting")
    .reverse()
    .sort((a, b) => byTime(settledAt(b), settledAt(a)));
}

/**
 * How an approval stands, in words: `approved for this run by ada`.
 *
 * @example
 * outcomeWords({ state: "approved", scope: "run", by: "ada" }); // "approved for this run by ada"
 */
export function outcomeWords(row: Pick<ApprovalRow, "state" | "scope" | "by">): string {
  if (row.state === "waiting") return "waiting";
  if (row.state === "withdrawn") return "withdrawn: its run has ended";
  const reach = row.scope === "rule" ? " always" : row.scope === "run" ? " for this run" : "";
  return `${row.state}${reach}${row.by === null ? "" : ` by ${row.by}`}`;
}

/** What became of approvals that waited a moment ago; `null` when all still do. */
export function whatBecame(before: readonly ApprovalRow[], now: readonly ApprovalRow[] | null): string | null {
  const byId = new Map((now ?? []).map((row) => [row.id, row]));
  const settled = before.map(({ id }) => byId.get(id)).filter((row) => row !== undefined && row.state !== "waiting");
  const [first] = settled;
  if (!first) return null;
  if (settled.length > 1) return `${settled.length} approvals were settled`;
  return `${first.agent}, ${subjectOf(first)}: ${outcomeWords(first)}`;
}

/** What to say aloud of approvals that began to wait between two views; `null` for nothing. */
export function announceWaiting(before: readonly ApprovalRow[], after: readonly ApprovalRow[]): string | null {
  const known = new Set(before.map(({ id }) => id));
  const fresh = after.filter(({ id }) => !known.has(id));
  const [first] = fresh;
  if (!first) return null;
  if (fresh.length > 1) return `${fresh.length} approvals wait for an answer`;
  return `${first.agent} waits for approval: ${subjectOf(first)}`;
}

/** Oldest first: all that wait, and the newest of the others. */
export function newestApprovals(rows: readonly ApprovalRow[]): { kept: ApprovalRow[]; dropped: ApprovalRow[] } {
  const sorted = rows.toSorted(oldestFirst);
  const settled = sorted.filter(({ state }) => state !== "waiting");
  const dropped = new Set(settled.slice(0, Math.max(settled.length - settledMax, 0)));
  return { kept: sorted.filter((row) => !dropped.has(row)), dropped: [...dropped] };
}

function oldestFirst(a: ApprovalRow, b: ApprovalRow): number {
  // Those of one moment stay as they came: in the order in which they were asked.
  return byTime(a.requestedAt, b.requestedAt);
}

function byTime(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
