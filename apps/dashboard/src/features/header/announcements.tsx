import { useEffect, useRef, useState } from "react";
import { announceWaiting, waitingOf } from "../../lib/approvals.ts";
import { usePage } from "../../lib/page-context.ts";
import { announceEnded } from "../../lib/status.ts";
import type { PageState } from "../../lib/store.ts";

/** At most one announcement in this time. */
const intervalMs = 1_500;

type AnnouncedState = Pick<PageState, "open" | "approvals">;

/** Announces ended runs and new approvals to screen readers, but no other changes. */
export function Announcements() {
  const open = usePage((state) => state.open);
  const approvals = usePage((state) => state.approvals);
  const announced = useRef<AnnouncedState>({ open, approvals });
  const latest = useRef<AnnouncedState>({ open, approvals });
  const [text, setText] = useState("");

  useEffect(() => {
    latest.current = { open, approvals };
  }, [open, approvals]);

  useEffect(() => {
    const timer = setInterval(() => {
      const parts = [newApprovals(announced.current, latest.current), endedRuns(announced.current, latest.current)];
      announced.current = latest.current;
      const next = parts.filter((part) => part !== null).join(". ");
      if (next !== "") setText(next);
    }, intervalMs);
    return () => clearInterval(timer);
  }, []);

  return (
    <p className="visually-hidden" role="status" aria-live="polite">
      {text}
    </p>
  );
}

function newApprovals(before: AnnouncedState, after: AnnouncedState): string | null {
  if (before.approvals === null || before.approvals === after.approvals) return null;
  return announceWaiting(waitingOf(before.approvals), waitingOf(after.approvals));
}

function endedRuns({ open: before }: AnnouncedState, { open: after }: AnnouncedState): string | null {
  if (!before || !after || before === after || before.id !== after.id || before.state !== "ready") return null;
  return announceEnded(before.runs, after.runs);
}
