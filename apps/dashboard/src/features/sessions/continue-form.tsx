import { type FormEvent, useId, useRef, useState } from "react";
import { ActionButton } from "../../components/buttons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { api } from "../../lib/api.ts";
import { submitOnCtrlEnter } from "../../lib/keys.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";

/** The next turn of a session, as far as it is written. */
interface NextTurn {
  task: string;
  /** The id makes a second request after a lost response the same turn. */
  run: string;
  /** The daemon has accepted the turn. The form stays until the record contains it. */
  isSent: boolean;
}

/** By session. The form leaves the page while a turn runs, also one that another client has started. */
const nextTurns = new Map<string, NextTurn>();

function useNextTurn({ session, rootRun }: ContinueFormProps) {
  const [turn, setTurn] = useState((): NextTurn => {
    const stored = nextTurns.get(session);
    const isDone = stored === undefined || stored.run === rootRun;
    return isDone ? { task: "", run: crypto.randomUUID(), isSent: false } : stored;
  });
  const latest = useRef(turn);
  const change = (changes: Partial<NextTurn>): void => {
    latest.current = { ...latest.current, ...changes };
    // At once: an update that removes the form in the same moment would leave no render to store it.
    nextTurns.set(session, latest.current);
    setTurn(latest.current);
  };
  return { turn, change };
}

export interface ContinueFormProps {
  session: string;
  /** The root run of the newest turn. */
  rootRun: string;
}

/** The form that continues a settled session with another turn. Each turn has its own form. */
export function ContinueForm({ session, rootRun }: ContinueFormProps) {
  const isOffline = usePage((state) => state.connection !== "live");
  const id = useId();
  const { turn, change } = useNextTurn({ session, rootRun });
  const { task, run, isSent } = turn;
  const { busy, problem, start } = useAction();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (task.trim() === "" || isOffline || isSent) return;
    const request = { task, continues: session, run, origin: "page" } as const;
    if ((await start("continue", () => api.submit(request))) !== null) change({ isSent: true });
  };
  const isBusy = busy !== null || isSent;

  return (
    <form className="continue" data-testid="continue-form" onSubmit={(event) => void submit(event)}>
      <label htmlFor={id}>Continue this session</label>
      <div className="one-line">
        <textarea
          id={id}
          rows={1}
          value={task}
          placeholder="The next task, or /spawn AGENT TASK. The agents remember the session."
          onChange={(event) => change({ task: event.target.value })}
          onKeyDown={submitOnCtrlEnter}
          required
        />
        <ActionButton type="submit" busy={isBusy} disabled={isOffline}>
          {isBusy ? "Starting…" : "Continue"}
        </ActionButton>
      </div>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}
