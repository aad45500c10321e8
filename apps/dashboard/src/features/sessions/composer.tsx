import { type FormEvent, type KeyboardEvent, useId, useState } from "react";
import { Glyph } from "../../components/glyphs.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { selectSession } from "../../lib/selection.ts";
import { AgentChoice } from "./agent-choice.tsx";

const demoTask = "Show what a troupe does: plan a small greeting tool, write it, test it and review it.";

export interface Draft {
  draft: string;
  setDraft(draft: string): void;
}

/** Starts sessions. */
export function Composer({ draft, setDraft }: Draft) {
  const demo = usePage((state) => state.status?.demo ?? false);
  const away = usePage((state) => state.connection !== "live");
  const [agent, setAgent] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const id = useId();

  const start = async (task: string, chosen: string): Promise<boolean> => {
    setBusy(true);
    setProblem(null);
    try {
      const { session } = await api.submit({ task, origin: "page", ...(chosen === "" ? {} : { agent: chosen }) });
      selectSession(session);
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
    if (draft.trim() !== "" && !busy && (await start(draft, agent))) setDraft("");
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit(event);
  };

  return (
    <form className="composer" data-testid="task-form" onSubmit={(event) => void submit(event)}>
      {demo && (
        <button
          type="button"
          className="demo-button"
          data-testid="run-demo"
          disabled={busy || away}
          onClick={() => void start(demoTask, "")}
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
        placeholder="What should the troupe do?"
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={onKeyDown}
        required
      />
      {demo && <p className="hint">No model is configured, so any task plays the same script.</p>}
      {problem && <ProblemNote problem={problem} />}
      <div className="composer-end">
        <AgentChoice agent={agent} setAgent={setAgent} />
        <button type="submit" className={demo ? "" : "primary"} disabled={busy || away}>
          {busy ? "Starting…" : "Start session"}
        </button>
      </div>
    </form>
  );
}
