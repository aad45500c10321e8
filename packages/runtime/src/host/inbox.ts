import type { InboxItem } from "@troupe/core";

/** Whether a wish about a session is one that this run has to act on. */
export function concernsRun(item: InboxItem, run: string): boolean {
  switch (item.kind) {
    case "session.cancelled":
      return true;
    case "approval.answered":
      return item.run === run;
    case "session.requested":
      return false;
  }
}
