import type { ApprovalRow } from "@troupe/core";
import { describeAgent } from "@troupe/core/texts";
import { reveal } from "./format.ts";

/** The store keeps this many answered and withdrawn approvals, and every waiting one. */
export const settledMax = 500;

/** The subject of an approval, for sentences: the tool, or the whole run. */
export function subjectOf({ tool }: Pick<ApprovalRow, "tool">): string {
  return tool === null ? "its whole run" : reveal(tool);
}

/** The waiting approvals of one session or of all sessions. */
export function waitingOf(rows: readonly ApprovalRow[] | null, session?: string): ApprovalRow[] {
  return (rows ?? []).filter((row) => row.state === "waiting" && (session === undefined || row.session === session));
}

/** The settled approvals of all sessions, last settled first. */
export function settledOf(rows: readonly ApprovalRow[] | null): ApprovalRow[] {
  const settledAt = ({ answeredAt, requestedAt }: ApprovalRow): string => answeredAt ?? requestedAt;
  return (rows ?? [])
    .filter(({ state }) => state !== "waiting")
    .reverse()
    .sort((a, b) => compareTimes(settledAt(b), settledAt(a)));
}

/**
 * The outcome of an approval as text.
 *
 * @example
 * outcomeText({ state: "approved", scope: "run", by: "ada" }); // "approved for this run by ada"
 */
export function outcomeText(row: Pick<ApprovalRow, "state" | "scope" | "by">): string {
  if (row.state === "waiting") return "waiting";
  if (row.state === "withdrawn") return "withdrawn: its run has ended";
  const scope = row.scope === "rule" ? " always" : row.scope === "run" ? " for this run" : "";
  return `${row.state}${scope}${row.by === null ? "" : ` by ${row.by}`}`;
}

/** Announces the outcome of approvals that were waiting before; `null` if all still wait. */
export function announceSettled(before: readonly ApprovalRow[], now: readonly ApprovalRow[] | null): string | null {
  const byId = new Map((now ?? []).map((row) => [row.id, row]));
  const settled = before.map(({ id }) => byId.get(id)).filter((row) => row !== undefined && row.state !== "waiting");
  const [first] = settled;
  if (!first) return null;
  if (settled.length > 1) return `${settled.length} approvals were settled`;
  return `${describeAgent(first)}, ${subjectOf(first)}: ${outcomeText(first)}`;
}

/** Announces approvals that are new; `null` if there are none. */
export function announceWaiting(before: readonly ApprovalRow[], after: readonly ApprovalRow[]): string | null {
  const known = new Set(before.map(({ id }) => id));
  const added = after.filter(({ id }) => !known.has(id));
  const [first] = added;
  if (!first) return null;
  if (added.length > 1) return `${added.length} approvals are waiting`;
  return `${describeAgent(first)} is waiting for approval: ${subjectOf(first)}`;
}

/** Selects the approvals to keep, oldest first: every waiting one and the newest settled ones. */
export function newestApprovals(rows: readonly ApprovalRow[]): { retained: ApprovalRow[]; evicted: ApprovalRow[] } {
  const sorted = rows.toSorted(compareRequestTimes);
  const settled = sorted.filter(({ state }) => state !== "waiting");
  const evicted = new Set(settled.slice(0, Math.max(settled.length - settledMax, 0)));
  return { retained: sorted.filter((row) => !evicted.has(row)), evicted: [...evicted] };
}

function compareRequestTimes(a: ApprovalRow, b: ApprovalRow): number {
  // The sort is stable: approvals with equal times keep the order of the requests.
  return compareTimes(a.requestedAt, b.requestedAt);
}

function compareTimes(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The agents from the root run to the one that asks. */
export function pathOf({ path, agent, team }: ApprovalRow): string {
  const names = path.length > 0 ? path : [agent];
  return names.map((each) => describeAgent({ agent: each, team })).join(" › ");
}
