import type { ApprovalRow, RunRow } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";

/** The rows of one session as they are now, gathered from its changes. */
export interface SessionRows {
  apply(change: Pick<RecordChange, "runs" | "approvals">): void;
  /** Questions that nobody has answered, oldest first. */
  waiting(): ApprovalRow[];
  paused(): RunRow[];
  /**
   * Whether nothing goes on until a person answers or resumes: every run that is not settled waits, is paused, or is
   * the parent of such and of nothing else that is at work.
   */
  needsPerson(): boolean;
}

export function createSessionRows(session: string): SessionRows {
  const runs = new Map<string, RunRow>();
  const approvals = new Map<string, ApprovalRow>();
  const active = (): RunRow[] => [...runs.values()].filter((run) => run.completedAt === null);
  const waiting = (): ApprovalRow[] =>
    [...approvals.values()]
      .filter((row) => row.state === "waiting")
      .sort((one, other) => Date.parse(one.requestedAt) - Date.parse(other.requestedAt));
  return {
    apply(change) {
      for (const run of change.runs) if (run.session === session) runs.set(run.run, run);
      for (const row of change.approvals) if (row.session === session) approvals.set(row.id, row);
    },
    waiting,
    paused: () => active().filter(isPaused),
    needsPerson() {
      const asking = new Set(waiting().map((row) => row.run));
      const rows = active();
      const roots = rows.filter(({ parentRun }) => !rows.some(({ run }) => run === parentRun));
      return roots.length > 0 && roots.every((root) => !goesOn(root, rows, asking));
    },
  };
}

/** A child that queues is no sign of life while those before it wait: it has its turn after them. */
function goesOn(run: RunRow, rows: readonly RunRow[], asking: ReadonlySet<string>): boolean {
  const begun = rows.filter(({ parentRun, exactStatus }) => parentRun === run.run && exactStatus !== "queued");
  if (begun.some((child) => goesOn(child, rows, asking))) return true;
  const waits = isPaused(run) || (run.exactStatus === "waiting" && asking.has(run.run));
  return !waits && begun.length === 0;
}

function isPaused(run: RunRow): boolean {
  return run.exactStatus === "paused";
}

/** Between two things that happen there may be a moment in which nothing seems to: only a longer one counts. */
const quietMs = 300;

export interface IdleWatch {
  /** Aborts once nothing goes on without a person. */
  readonly signal: AbortSignal;
  /** To be called after each change. */
  check(): void;
  stop(): void;
}

/** Watches for the moment from which only people are missing. */
export function watchUntilIdle(rows: Pick<SessionRows, "needsPerson">): IdleWatch {
  const reached = new AbortController();
  let quiet: NodeJS.Timeout | undefined;
  return {
    signal: reached.signal,
    check() {
      clearTimeout(quiet);
      if (rows.needsPerson()) quiet = setTimeout(() => reached.abort(), quietMs);
    },
    stop: () => clearTimeout(quiet),
  };
}
