import type { RunRow } from "@troupe/core";
import type { GrantDecision, GrantExplanation } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import { type FormEvent, useId, useRef, useState } from "react";
import { ActionButton } from "../../components/buttons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";
import { useLeaveWithFocus } from "../../lib/use-leave-with-focus.ts";
import { CancelButton, PauseButton } from "./control-buttons.tsx";

/** The controls of an active run. */
export function RunControls({ run }: { run: RunRow }) {
  const isOffline = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction();
  const [explanation, setExplanation] = useState<GrantExplanation | null>(null);
  const id = useId();
  const controls = useRef<HTMLElement>(null);
  // The run can end while the user works with its controls.
  useLeaveWithFocus(controls, () => document.getElementById("run-title")?.focus());
  const toggleExplanation = async (): Promise<void> => {
    if (explanation !== null) setExplanation(null);
    else setExplanation(await start("explain", () => api.explain(run.run)));
  };
  return (
    <section ref={controls} className="run-controls" aria-label={`Steering ${run.agent}`} data-testid="run-controls">
      <div className="control-line">
        <PauseButton run={run} testId="pause-run">
          {" run"}
        </PauseButton>
        <CancelButton
          cancel={() => api.cancelRun(run.run)}
          testId="cancel-run"
          warning="Stops this run and its child runs."
        >
          Cancel run
        </CancelButton>
      </div>
      <SteerForm run={run.run} agent={describeAgent(run)} />
      <ActionButton
        className="link"
        data-testid="explain-run"
        aria-expanded={explanation !== null}
        aria-controls={explanation === null ? undefined : id}
        busy={busy !== null}
        disabled={isOffline}
        onClick={() => void toggleExplanation()}
      >
        {busy === null ? "Why these tools and agents?" : "Loading…"}
      </ActionButton>
      {problem && <ProblemNote problem={problem} />}
      {explanation && <Grants id={id} explanation={explanation} />}
    </section>
  );
}

/** Sends a message to an active run. */
function SteerForm({ run, agent }: { run: string; agent: string }) {
  const isOffline = usePage((state) => state.connection !== "live");
  const id = useId();
  const [text, setText] = useState("");
  const [result, setResult] = useState<string | null>(null);
  const { busy, problem, start } = useAction();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const message = text.trim();
    if (message === "" || isOffline) return;
    setResult(null);
    const reply = await start("steer", () => api.steer(run, message));
    if (reply === null) return;
    const isSent = reply.outcome === "requested";
    setResult(isSent ? "Sent: the agent reads it at its next step." : "Not sent: the run has ended.");
    if (isSent) setText("");
  };
  return (
    <form className="steer" data-testid="steer-form" onSubmit={(event) => void submit(event)}>
      <label htmlFor={id}>Steer {agent}</label>
      <div className="one-line">
        <input
          id={id}
          value={text}
          placeholder="Information or a new instruction for this agent"
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
        />
        <ActionButton type="submit" busy={busy !== null} disabled={isOffline}>
          {busy === null ? "Send" : "Sending…"}
        </ActionButton>
      </div>
      <p className="hint" role="status">
        {result}
      </p>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}

/** The tools and agents that a run may use, and the layer that removed each of the others. */
function Grants({ id, explanation }: { id: string; explanation: GrantExplanation }) {
  const { layers, verdicts } = explanation;
  return (
    <div id={id} className="grants" data-testid="grants">
      <p className="soft">
        Each layer can only remove permissions: <span className="layers">{layers.join(" › ")}</span>
      </p>
      <GrantTable caption="Tools" decisions={verdicts.filter(({ kind }) => kind === "tool")} />
      <GrantTable caption="Agents it may delegate to" decisions={verdicts.filter(({ kind }) => kind === "agent")} />
    </div>
  );
}

function GrantTable({ caption, decisions }: { caption: string; decisions: readonly GrantDecision[] }) {
  const granted = decisions.filter((decision) => decision.granted).length;
  return (
    <table>
      <caption>
        {caption}{" "}
        <span className="soft">
          {decisions.length === 0 ? "none exist" : `${granted} of ${decisions.length} granted`}
        </span>
      </caption>
      {decisions.length > 0 && (
        <>
          <thead className="visually-hidden">
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Granted, or removed by</th>
            </tr>
          </thead>
          <tbody>
            {decisions.map((decision) => (
              <tr key={decision.name} data-granted={decision.granted}>
                <th scope="row">{decision.name}</th>
                <td>
                  {decision.granted ? (
                    "granted"
                  ) : (
                    <>
                      <b>removed by {decision.removedBy ?? "an unknown layer"}</b>
                      <span className="agent-text soft">{decision.reason}</span>
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </>
      )}
    </table>
  );
}
