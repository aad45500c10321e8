import type { RunRow, SessionRow } from "@troupe/core";
import type { RecordStatus } from "@troupe/core/internal";
import { describeAgent, describeStatus } from "@troupe/core/texts";

const active: ReadonlySet<RecordStatus> = new Set(["pending", "running"]);
const failure: ReadonlySet<RecordStatus> = new Set(["failed", "timeout"]);

/** True for a run or session that has not ended. */
export function isActive(row: { status: RecordStatus }): boolean {
  return active.has(row.status);
}

/** True for an end that needs attention. A cancellation is intended, so it does not count. */
export function isFailure(row: { status: RecordStatus }): boolean {
  return failure.has(row.status);
}

/** The fields of a row that its badge shows. */
export interface StatusFields {
  status: RecordStatus;
  exactStatus?: string;
  queuePosition?: number | null;
  answerOnly?: string | null;
}

/** Exact statuses of active runs that have their own glyph and colour. */
const idleStatuses = ["queued", "waiting", "paused", "parked"] as const;

export type StatusKind = RecordStatus | (typeof idleStatuses)[number];

/** The exact status for an idle run, otherwise the status of the record. */
export function statusKind(row: StatusFields): StatusKind {
  const idle = idleStatuses.find((kind) => kind === row.exactStatus);
  return idle !== undefined && isActive(row) ? idle : row.status;
}

/**
 * The text of a badge. It prefers the exact status of the state machine to the status of the record.
 *
 * @example
 * statusText({ status: "pending", exactStatus: "queued", queuePosition: 3 }); // "queued 3"
 */
export function statusText(row: StatusFields): string {
  const kind = statusKind(row);
  if (kind !== row.exactStatus && idleStatuses.some((idle) => idle === row.exactStatus)) return kind;
  const { queuePosition, answerOnly } = row;
  return describeStatus({ exactStatus: row.exactStatus || row.status, queuePosition, answerOnly });
}

/** The label in every view of a session that no model answered, and its short form for lists. */
export function demoLabel({ replay }: Pick<SessionRow, "replay">): { short: string; long: string } {
  return replay
    ? { short: "Replay", long: "Replay: recorded, no model was called" }
    : { short: "Demo", long: "Demo: scripted, no model was called" };
}

/** The start of the latest turn of a session. */
export function turnStartOf({ startedAt, turnStartedAt }: Pick<SessionRow, "startedAt" | "turnStartedAt">): number {
  return Date.parse(turnStartedAt ?? startedAt);
}

/**
 * Announces the runs of a session that have ended; `null` if there are none. One run is named, several are counted,
 * because fifty ends in one second must not become fifty sentences.
 */
export function announceEnded(before: ReadonlyMap<string, RunRow>, after: ReadonlyMap<string, RunRow>): string | null {
  const ended: RunRow[] = [];
  for (const run of after.values()) {
    const known = before.get(run.run);
    if (!isActive(run) && known && isActive(known)) ended.push(run);
  }
  const [first] = ended;
  if (!first) return null;
  if (ended.length === 1) return `${describeAgent(first)} ${statusText(first)}`;
  const counts = new Map<RecordStatus, number>();
  for (const run of ended) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${count === 1 ? "run" : "runs"} ${status}`).join(", ");
}

/**
 * Computes the queue position of each queued run among its siblings. When a run starts, the record sends only its row and
 * not the rows of the runs behind it, so that a queue of 1,000 runs does not cause 1,000 rows for each start.
 */
export function withQueuePositions(runs: ReadonlyMap<string, RunRow>): Map<string, RunRow> {
  const positioned = new Map(runs);
  const queued = [...runs.values()].filter(({ exactStatus, parentRun }) => exactStatus === "queued" && parentRun);
  const lengths = new Map<string | null, number>();
  for (const run of queued.sort((a, b) => a.order - b.order)) {
    const queuePosition = (lengths.get(run.parentRun) ?? 0) + 1;
    lengths.set(run.parentRun, queuePosition);
    if (run.queuePosition !== queuePosition) positioned.set(run.run, { ...run, queuePosition });
  }
  return positioned;
}
