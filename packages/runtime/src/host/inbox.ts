import type { Entry, InboxItem, RunRequest } from "@troupe/core";

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
      return false;
  }
}

/** The newest wish that a run's journal has taken over; 0 where there is none. */
export function lastInboxSeq(entries: readonly Entry[]): number {
  return entries.reduce((seq, entry) => (entry.kind === "inbox.received" ? Math.max(seq, entry.seq) : seq), 0);
}
