import type { ApprovalRow, RunRow } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";

/** The current rows of one session, collected from its changes. */
export interface SessionRows {
  apply(change: Pick<RecordChange, "runs" | "approvals">): void;
  /** Waiting requests for approval, oldest first. */
  waiting(): ApprovalRow[];
  paused(): RunRow[];
  /**
   * True if the session waits only for a person: every unfinished run waits for an answer, is paused, or has only such
   * sub-runs.
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
      return roots.length > 0 && roots.every((root) => !isWorking(root, rows, asking));
    },
  };
}

/** A queued sub-run does not count: it starts only after the waiting ones before it. */
function isWorking(run: RunRow, rows: readonly RunRow[], asking: ReadonlySet<string>): boolean {
  const begun = rows.filter(({ parentRun, exactStatus }) => parentRun === run.run && exactStatus !== "queued");
  if (begun.some((child) => isWorking(child, rows, asking))) return true;
  const waits = isPaused(run) || (run.exactStatus === "waiting" && asking.has(run.run));
  return !waits && begun.length === 0;
}

function isPaused(run: RunRow): boolean {
  return run.exactStatus === "paused";
}

/** A session can look idle for a moment between two events. Only a longer pause counts. */
const quietMs = 300;

export interface IdleWatch {
  /** Aborts when the session waits only for a person. */
  readonly signal: AbortSignal;
  /** Call it after each change. */
  check(): void;
  stop(): void;
}

/** Watches for the moment from which the session waits only for a person. */
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
