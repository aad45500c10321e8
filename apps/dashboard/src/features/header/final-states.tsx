import { useEffect, useRef, useState } from "react";
import { announce } from "../../lib/final-states.ts";
import { usePage } from "../../lib/page-context.ts";

/** At most one sentence in this time. */
const quietMs = 1_500;

/** Says aloud, to those who hear the page, what has ended: final states only, never the steps between. */
export function FinalStates() {
  const open = usePage((state) => state.open);
  const said = useRef(open);
  const latest = useRef(open);
  const [sentence, setSentence] = useState("");

  useEffect(() => {
    latest.current = open;
  }, [open]);

  useEffect(() => {
    const timer = setInterval(() => {
      const before = said.current;
      const after = latest.current;
      said.current = after;
      if (!before || !after || before === after || before.id !== after.id || before.state !== "ready") return;
      const next = announce(before.runs, after.runs);
      if (next !== null) setSentence(next);
    }, quietMs);
    return () => clearInterval(timer);
  }, []);

  return (
    <p className="heard-only" role="status" aria-live="polite">
      {sentence}
    </p>
  );
}
