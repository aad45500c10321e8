import type { InboxItem } from "@troupe/core";
import { releases } from "@troupe/core/internal";
import type { PendingApproval, RunRecord } from "./run-columns.ts";

type ExactStatus = Pick<RunRecord, "exactStatus" | "metadata">;
type Answer = Extract<InboxItem, { kind: "approval.answered" }>;
type Blockers = Pick<RunRecord, "pendingApprovals" | "paused">;

/** Changes the exact status only: the status of the row stays `running`. */
export function withExactStatus({ metadata }: Pick<RunRecord, "metadata">, status: string): ExactStatus {
  return { exactStatus: status, metadata: { ...metadata, status } };
}

/** Status of a run that a host holds: running, unless it is paused or waits for an approval. */
export function runStatus(before: RunRecord, change: Partial<Blockers> = {}): ExactStatus & Blockers {
  const { pendingApprovals, paused } = { ...before, ...change };
  const status = pendingApprovals.length > 0 ? "waiting" : "running";
  return { pendingApprovals, paused, ...withExactStatus(before, paused ? "paused" : status) };
}

export function withApproval(before: RunRecord, added: PendingApproval): ExactStatus & Blockers {
  const others = before.pendingApprovals.filter(({ approval }) => approval !== added.approval);
  return runStatus(before, { pendingApprovals: [...others, added] });
}

/** A call that starts or ends no longer waits for its approval, with or without an answer. */
export function withoutApprovalsOf(before: RunRecord, step: number, call: number): Partial<ExactStatus & Blockers> {
  const left = before.pendingApprovals.filter((pending) => pending.step !== step || pending.call !== call);
  return left.length === before.pendingApprovals.length ? {} : runStatus(before, { pendingApprovals: left });
}

/** A user can pause and resume a run itself or any run above it. The latest command counts. */
export function afterInboxItem(before: RunRecord, item: InboxItem): Partial<ExactStatus & Blockers> {
  switch (item.kind) {
    case "run.paused":
      return runStatus(before, { paused: true });
    case "run.resumed":
      return runStatus(before, { paused: false });
    case "approval.answered":
      return runStatus(before, { pendingApprovals: withoutAnswered(before.pendingApprovals, item) });
    case "session.requested":
    case "session.continued":
    case "session.cancelled":
    case "run.cancelled":
    case "run.steered":
    case "undo.planned":
    case "undo.finished":
      return {};
  }
}

function withoutAnswered(pending: readonly PendingApproval[], answer: Answer): PendingApproval[] {
  const answered = answeredBy(pending, answer);
  return pending.filter((other) => !answered.includes(other));
}

/** The pending approvals that an answer settles. One for the rest of the run also settles the other approvals that it covers. */
export function answeredBy(
  pending: readonly PendingApproval[],
  { approval, approved, scope }: Answer,
): PendingApproval[] {
  const answered = pending.find((candidate) => candidate.approval === approval);
  if (answered === undefined) return [];
  if (!approved || scope !== "run") return [answered];
  return pending.filter((other) => other === answered || releases(answered, other));
}
