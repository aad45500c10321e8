import type { HostRow } from "@troupe/core";
import { useState } from "react";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";

/** Lets a host leave in good order. Nothing is shown of it before the host itself says that it drains. */
export function DrainButton({ host, onAsked }: { host: HostRow["host"]; onAsked(): void }) {
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
        doing="Asking…"
        busy={busy !== null}
        disabled={away}
        testId="drain-host"
        warning={`${host} takes nothing new, leaves its runs to others, and ends.`}
        onConfirm={() => void drain()}
      >
        {asked ? "Drain again" : "Drain"}
        <span className="heard-only"> {host}</span>
      </ConfirmButton>
      {asked && !problem && (
        <p className="soft" role="status">
          Asked to drain…
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
