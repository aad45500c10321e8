import type { Entry, RunResponse } from "@troupe/core";
import { describeEnd } from "./activity.ts";
import { isOpen, type RunDraft } from "./draft.ts";
import { draftOfPlanned } from "./new-draft.ts";
import { settle } from "./projection.ts";
import { toIso } from "./time.ts";

/** What an entry of one run says of another run. */
export interface ChildUpdates {
  run: string;
  /** The other run's draft from now on; null where it stays as it is. */
  apply(known: RunDraft | null): RunDraft | null;
}

/**
 * What a parent's entry says of its children: those that it is going to ask are shown before they have a journal, and
 * those that it never asked come to an end. A run's own entries are the truth about it: as soon as there is one,
 * nothing that its parent says changes its draft.
 *
 * @param parent as the entry left it
 */
export function childUpdatesOf(parent: RunDraft, entry: Entry): ChildUpdates[] {
  switch (entry.kind) {
    case "calls.planned":
      return entry.children.map((child) => ({
        run: child.run,
        apply: (known) => (known ? null : draftOfPlanned(parent, child, entry.at)),
      }));
    case "child.settled":
      // Whoever had a turn has a journal: its draft need not even be looked up.
      if (entry.response.metrics.iterations > 0) return [];
      return [unasked(parent, entry.response.runId, (known) => ended(known, entry.response, entry.at))];
    case "run.settled":
      return forgottenChildren(parent).map((run) => unasked(parent, run, (known) => forgotten(known, entry.at)));
    default:
      return [];
  }
}

/** Only of a child that is this parent's own, and that has neither an entry nor an end. */
function unasked(parent: RunDraft, run: string, change: (known: RunDraft) => RunDraft): ChildUpdates {
  return {
    run,
    apply(known) {
      const isUnasked = known?.parentRun === parent.run && known.headIndex < 0 && known.completedAt === null;
      return isUnasked && known.session === parent.session ? change(known) : null;
    },
  };
}

function ended(known: RunDraft, response: RunResponse, atMs: number): RunDraft {
  return { ...known, ...settle(response, atMs), lastEventAt: toIso(atMs), activity: describeEnd(response) };
}

/** Children without an answer when the run ended: it crashed before it could settle them. */
function forgottenChildren({ toolCalls }: RunDraft): string[] {
  return toolCalls.flatMap(({ children }) => children?.filter(isOpen).map(({ run_id }) => run_id) ?? []);
}

function forgotten(known: RunDraft, atMs: number): RunDraft {
  const at = toIso(atMs);
  const error = "its parent ended before it was asked";
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
