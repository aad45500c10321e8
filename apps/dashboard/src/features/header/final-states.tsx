import { useEffect, useRef, useState } from "react";
import { announceWaiting, waitingOf } from "../../lib/approvals.ts";
import { announce } from "../../lib/final-states.ts";
import { usePage } from "../../lib/page-context.ts";
import type { PageState } from "../../lib/store.ts";

/** At most one sentence in this time. */
const quietMs = 1_500;

type Heard = Pick<PageState, "open" | "approvals">;

/** Says aloud, to those who hear the page, what has ended and what waits for them: never the steps between. */
export function FinalStates() {
  const open = usePage((state) => state.open);
  const approvals = usePage((state) => state.approvals);
  const said = useRef<Heard>({ open, approvals });
  const latest = useRef<Heard>({ open, approvals });
  const [sentence, setSentence] = useState("");

  useEffect(() => {
    latest.current = { open, approvals };
  }, [open, approvals]);

  useEffect(() => {
    const timer = setInterval(() => {
      const next = [newlyWaiting(said.current, latest.current), newlyEnded(said.current, latest.current)];
      said.current = latest.current;
      const words = next.filter((part) => part !== null).join(". ");
      if (words !== "") setSentence(words);
    }, quietMs);
    return () => clearInterval(timer);
  }, []);

  return (
    <p className="heard-only" role="status" aria-live="polite">
      {sentence}
    </p>
  );
}

function newlyWaiting(before: Heard, after: Heard): string | null {
  if (before.approvals === null || before.approvals === after.approvals) return null;
  return announceWaiting(waitingOf(before.approvals), waitingOf(after.approvals));
}

function newlyEnded({ open: before }: Heard, { open: after }: Heard): string | null {
  if (!before || !after || before === after || before.id !== after.id || before.state !== "ready") return null;
  return announce(before.runs, after.runs);
}
