import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from "react";
import { ActionButton } from "../../components/buttons.tsx";
import { Glyph } from "../../components/icons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import { navigate } from "../../lib/navigation.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";
import { type Choice, noChoice, TeamAndAgent } from "./team-and-agent.tsx";

const demoTask = "Show what a troupe does: plan a small greeting tool, write it, test it and review it.";

/** The task and its choices, kept by the page: the form moves when the first session appears. */
export interface Draft {
  draft: string;
  setDraft(draft: string): void;
  choice: Choice;
  setChoice(choice: Choice): void;
}

/** The form that starts a session. */
export function Composer({ draft, setDraft, choice, setChoice }: Draft) {
  const demo = usePage((state) => state.status?.demo ?? false);
  const isOffline = usePage((state) => state.connection !== "live");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const id = useId();

  const start = async (task: string, { team, agent } = noChoice): Promise<boolean> => {
    setBusy(true);
    setProblem(null);
    try {
      const { session } = await api.submit({
        task,
        origin: "page",
        ...(team === "" ? {} : { team }),
        ...(agent === "" ? {} : { agent }),
      });
      navigate({ session });
      return true;
    } catch (thrown) {
      setProblem(problemOf(thrown));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (draft.trim() !== "" && !busy && (await start(draft, choice))) setDraft("");
  };

  return (
    <form className="composer" data-testid="task-form" onSubmit={(event) => void submit(event)}>
      {demo && (
        <button
          type="button"
          className="demo-button"
          data-testid="run-demo"
          disabled={busy || isOffline}
          onClick={() => void start(demoTask)}
        >
          <Glyph name="play" />
          Run the demo
        </button>
      )}
      <label htmlFor={id}>Task</label>
      <textarea
        id={id}
        name="task"
        rows={3}
        value={draft}
        placeholder="What should the agents do? /spawn AGENT TASK starts one sub-agent at once."
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={submitOnCtrlEnter}
        required
      />
      {demo && (
        <p className="hint">
          No model is configured. Every task plays the same scripted demo, except those of the team office.
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
      <TeamAndAgent choice={choice} setChoice={setChoice} />
      <div className="composer-end">
        <button type="submit" className={demo ? "" : "primary"} disabled={busy || isOffline}>
          {busy ? "Starting…" : "Start session"}
        </button>
      </div>
    </form>
  );
}

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

/** In a text field of several lines, Ctrl+Enter or Cmd+Enter submits the form. */
function submitOnCtrlEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
}
