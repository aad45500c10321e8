import type { HostRow } from "@troupe/core";
import { useState } from "react";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";

/** Lets a host leave in good order. That it drains is shown when it says so itself. */
export function DrainButton({ row, onAsked }: { row: HostRow; onAsked(): void }) {
  const { host } = row;
  const drains = row.status === "draining";
  const away = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction();
  const [asked, setAsked] = useState(false);
  const drain = async (): Promise<void> => {
    if (await start("drain", () => api.drainHost(host))) setAsked(true);
    onAsked();
  };
  return (
    <>
      <ConfirmButton
        sure="Really drain?"
        doing={drains ? "Draining…" : "Asking…"}
        busy={busy !== null || drains}
        disabled={away}
        testId="drain-host"
        warning={`${host} takes nothing new, leaves its runs to others, and ends.`}
        onConfirm={() => void drain()}
      >
        {asked ? "Drain again" : "Drain"}
        <span className="heard-only"> {host}</span>
      </ConfirmButton>
      {asked && !drains && !problem && (
        <p className="soft" role="status">
          Asked to drain…
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
