import { type FormEvent, type KeyboardEvent, useId, useState } from "react";
import { ActionButton } from "../../components/action-button.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";

/** What comes next in a session that has settled: another turn, which knows what was said. One form for each turn. */
export function ContinueForm({ session }: { session: string }) {
  const away = usePage((state) => state.connection !== "live");
  const id = useId();
  const [task, setTask] = useState("");
  /** Accepted: from here on it is shown until the record tells of the turn. */
  const [sent, setSent] = useState(false);
  /** Sent again after a lost answer, it is still the same turn. */
  const [run] = useState(() => crypto.randomUUID());
  const { busy, problem, start } = useAction();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (task.trim() === "" || away || sent) return;
    const asked = { task, continues: session, run, origin: "page" } as const;
    if ((await start("continue", () => api.submit(asked))) !== null) setSent(true);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit(event);
  };
  const waits = busy !== null || sent;

  return (
    <form className="continue" data-testid="continue-form" onSubmit={(event) => void submit(event)}>
      <label htmlFor={id}>Go on with this session</label>
      <div className="one-line">
        <textarea
          id={id}
          rows={1}
          value={task}
          placeholder="What comes next? It knows what was said."
          onChange={(event) => setTask(event.target.value)}
          onKeyDown={onKeyDown}
          required
        />
        <ActionButton type="submit" busy={waits} disabled={away}>
          {waits ? "Starting…" : "Continue"}
        </ActionButton>
      </div>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}
