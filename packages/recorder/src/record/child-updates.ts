import type { Entry, RunResponse } from "@troupe/core";
import { describeEnd } from "./activity.ts";
import { recordOfPlannedChild } from "./new-run-record.ts";
import { settle } from "./projection.ts";
import { isOpen, type RunRecord } from "./run-columns.ts";
import { toIso } from "./time.ts";

/** A change to a child that follows from an entry of its parent. */
export interface ChildUpdate {
  run: string;
  /** Returns the child's new record, or null if the record does not change. */
  apply(known: RunRecord | null): RunRecord | null;
}

/**
 * Derives the rows of children from an entry of their parent. Planned children are shown before they have a journal, and
 * children that never started are ended. A child's own entries take precedence: once there is one, the parent's entries
 * no longer change the child's record.
 *
 * @param parent the parent's record after the entry
 */
export function childUpdatesOf(parent: RunRecord, entry: Entry): ChildUpdate[] {
  switch (entry.kind) {
    case "calls.planned":
      return entry.children.map((child) => ({
        run: child.run,
        apply: (known) => (known ? null : recordOfPlannedChild(parent, child, entry.at)),
      }));
    case "child.settled":
      // A child with a step has its own journal, so its record needs no lookup.
      if (entry.response.metrics.iterations > 0) return [];
      return [ifNotStarted(parent, entry.response.runId, (known) => settled(known, entry.response, entry.at))];
    case "run.settled":
      return openChildRuns(parent).map((run) => ifNotStarted(parent, run, (known) => cancelled(known, entry.at)));
    default:
      return [];
  }
}

/** Applies to a child of this parent that has no entry and has not ended. */
function ifNotStarted(parent: RunRecord, run: string, change: (known: RunRecord) => RunRecord): ChildUpdate {
  return {
    run,
    apply(known) {
      const isNotStarted = known?.parentRun === parent.run && known.headIndex < 0 && known.completedAt === null;
      return isNotStarted && known.session === parent.session ? change(known) : null;
    },
  };
}

function settled(known: RunRecord, response: RunResponse, atMs: number): RunRecord {
  return { ...known, ...settle(response, atMs), lastEventAt: toIso(atMs), activity: describeEnd(response) };
}

/** Children that had not settled when the run ended: the run crashed before it could settle them. */
function openChildRuns({ calls }: RunRecord): string[] {
  return calls.flatMap(({ children }) => children?.filter(isOpen).map(({ run_id }) => run_id) ?? []);
}

function cancelled(known: RunRecord, atMs: number): RunRecord {
  const at = toIso(atMs);
  const error = "the parent run ended before this run started";
  return {
    ...known,
    status: "cancelled",
    exactStatus: "cancelled",
    completedAt: at,
    durationMs: 0,
    error,
    activity: `cancelled: ${error}`,
    metadata: { ...known.metadata, status: "cancelled" },
    lastEventAt: at,
  };
}
