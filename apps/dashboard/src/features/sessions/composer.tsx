import { type FormEvent, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Glyph } from "../../components/icons.tsx";
import { RouteLink } from "../../components/route-link.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import { submitOnCtrlEnter } from "../../lib/keys.ts";
import { navigate } from "../../lib/navigation.ts";
import { usePage } from "../../lib/page-context.ts";
import {
  noOptions,
  type OptionProblems,
  optionOf,
  problemsOf,
  requestOf,
  type SessionOptions,
  storeOptions,
  textOf,
} from "../../lib/session-options.ts";
import { AgentProblems } from "./agent-problems.tsx";
import { MoreOptions } from "./more-options.tsx";
import { useAgents } from "./use-agents.ts";

const demoTask = "Show what a troupe does: plan a small greeting tool, write it, test it and review it.";

/** The task and its options, kept by the page: the form moves when the first session appears. */
export interface Draft {
  draft: string;
  setDraft(draft: string): void;
  options: SessionOptions;
  setOptions(options: SessionOptions): void;
}

/** Starts sessions, and keeps why one was refused. The form shows a problem of an option at its field. */
function useStart(showProblems: (problems: OptionProblems) => void) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);

  const refuse = (refusal: ApiProblem, options: SessionOptions): void => {
    const name = optionOf(refusal, options);
    if (name === null) setProblem(refusal);
    else showProblems({ [name]: textOf(refusal) });
  };
  const start = async (task: string, options = noOptions): Promise<boolean> => {
    const problems = problemsOf(options);
    setProblem(null);
    showProblems(problems);
    if (Object.keys(problems).length > 0) return false;
    setBusy(true);
    try {
      const { session } = await api.submit({ task, origin: "page", ...requestOf(options) });
      navigate({ session });
      return true;
    } catch (thrown) {
      refuse(problemOf(thrown), options);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, problem, start };
}

/** The state of the folded options. A problem opens them and moves the focus to its field. */
function useOptionFields() {
  const [isOpen, setOpen] = useState(false);
  const [problems, setProblems] = useState<OptionProblems>({});
  const form = useRef<HTMLFormElement>(null);
  const showProblems = (found: OptionProblems): void => {
    const isWrong = Object.keys(found).length > 0;
    // The field must be on the page before it can have the focus.
    flushSync(() => {
      setProblems(found);
      if (isWrong) setOpen(true);
    });
    if (isWrong) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  };
  const forgetProblems = (changes: Partial<SessionOptions>): void => {
    const left = Object.entries(problems).filter(([name]) => !(name in changes));
    setProblems(Object.fromEntries(left));
  };
  return { form, isOpen, setOpen, problems, showProblems, forgetProblems };
}

/** The form that starts a session. */
export function Composer({ draft, setDraft, options, setOptions }: Draft) {
  const demo = usePage((state) => state.status?.demo ?? false);
  const isOffline = usePage((state) => state.connection !== "live");
  const { form, isOpen, setOpen, problems, showProblems, forgetProblems } = useOptionFields();
  const { busy, problem, start } = useStart(showProblems);
  const id = useId();
  const list = useAgents(options.folder.trim());
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (draft.trim() === "" || busy || !(await start(draft, options))) return;
    setDraft("");
    setOptions(storeOptions(options));
    setOpen(false);
  };
  const change = (changes: Partial<SessionOptions>): void => {
    setOptions({ ...options, ...changes });
    forgetProblems(changes);
  };

  return (
    <form ref={form} className="composer" data-testid="task-form" onSubmit={(event) => void submit(event)}>
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
      <MoreOptions {...{ options, problems, list, isOpen, setOpen }} onChange={change} />
      {list.problems.length > 0 && <AgentProblems problems={list.problems} />}
      <div className="composer-end">
        {list.agents.length > 0 && <EditAgents agent={options.agent} />}
        <button type="submit" className={demo ? "" : "primary"} disabled={busy || isOffline}>
          {busy ? "Starting…" : "Start session"}
        </button>
      </div>
    </form>
  );
}

function EditAgents({ agent }: { agent: string }) {
  return (
    <RouteLink
      className="link edit-agents"
      to={{ view: "agents", ...(agent === "" ? {} : { agent }) }}
      data-testid="edit-agents"
    >
      {agent === "" ? "Edit agents" : "Edit this agent"}
    </RouteLink>
  );
}
