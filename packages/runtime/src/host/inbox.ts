import type { Entry, InboxItem, RunRequest } from "@troupe/core";
import { beginsTurn } from "@troupe/core/internal";

type Placed = { seq: number; item: InboxItem };

/**
 * Of a session's inbox what a run has to act on and has not taken over yet. What was wished before its turn began is
 * about the turns before: a session that was cancelled can be continued.
 *
 * @param afterSeq the newest wish that its journal has
 */
export function commandsFor(items: readonly Placed[], request: RunRequest, afterSeq: number): Placed[] {
  const root = request.ancestors[0] ?? request.run;
  const began = items.findLastIndex(({ item }) => beginsTurn(item) && item.request.run === root);
  return items.slice(began + 1).filter(({ seq, item }) => seq > afterSeq && concernsRun(item, request));
}

/** Whether a wish about a session is one that this run has to act on. */
export function concernsRun(item: InboxItem, { run, ancestors }: Pick<RunRequest, "run" | "ancestors">): boolean {
  switch (item.kind) {
    case "session.cancelled":
      return true;
    case "run.cancelled":
    case "run.paused":
    case "run.resumed":
      return item.run === run || ancestors.includes(item.run);
    case "run.steered":
    case "approval.answered":
      return item.run === run;
    case "session.requested":
    case "session.continued":
      return false;
  }
}

/** The newest wish that a run's journal has taken over; 0 where there is none. */
export function lastInboxSeq(entries: readonly Entry[]): number {
  return entries.reduce((seq, entry) => (entry.kind === "inbox.received" ? Math.max(seq, entry.seq) : seq), 0);
}
