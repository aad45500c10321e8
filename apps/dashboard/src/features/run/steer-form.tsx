import { type FormEvent, useId, useState } from "react";
import { ActionButton } from "../../components/action-button.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";

/** Words for a run that is at work. */
export function SteerForm({ run, agent }: { run: string; agent: string }) {
  const away = usePage((state) => state.connection !== "live");
  const id = useId();
  const [text, setText] = useState("");
  const [said, setSaid] = useState<string | null>(null);
  const { busy, problem, start } = useAction();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const words = text.trim();
    if (words === "" || away) return;
    setSaid(null);
    const result = await start("steer", () => api.steer(run, words));
    if (result === null) return;
    setSaid(result.outcome === "requested" ? "Sent: it reads this at its next step." : "Too late: it has ended.");
    if (result.outcome === "requested") setText("");
  };
  return (
    <form className="steer" data-testid="steer-form" onSubmit={(event) => void submit(event)}>
      <label htmlFor={id}>Steer {agent}</label>
      <div className="one-line">
        <input
          id={id}
          value={text}
          placeholder="What it should know or do differently"
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
        />
        <ActionButton type="submit" busy={busy !== null} disabled={away}>
          {busy === null ? "Send" : "Sending…"}
        </ActionButton>
      </div>
      <p className="hint" role="status">
        {said}
      </p>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}
