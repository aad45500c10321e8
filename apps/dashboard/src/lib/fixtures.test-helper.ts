import type { ApprovalRow, HostRow, RunRow, SessionRow } from "@troupe/core";
import { sampleApproval, sampleHost, sampleRun, sampleSession } from "@troupe/core/internal";

/** Rows of the session s1 with the root run r1, unless a test gives others. */
export function runRow(part: Partial<RunRow> & { run: string }): RunRow {
  return sampleRun({ session: "s1", agent: "coder", ...part });
}

export function sessionRow(part: Partial<SessionRow> & { session: string }): SessionRow {
  return sampleSession({ rootRun: "r1", origin: "page", ...part });
}

export function approvalRow(part: Partial<ApprovalRow> & { id: string }): ApprovalRow {
  return sampleApproval({ session: "s1", run: "r1", ...part });
}

export function hostRow(host: string, more: Partial<HostRow> = {}): HostRow {
  const at = "2026-11-18T12:00:00.000Z";
  return sampleHost({ host, startedAt: at, lastHeartbeatAt: at, ...more });
}
