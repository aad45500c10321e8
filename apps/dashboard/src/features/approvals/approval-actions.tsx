import type { ApprovalRow } from "@troupe/core";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { ActionButton } from "../../components/buttons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { type ApiProblem, type ApprovalDecision, api } from "../../lib/api.ts";
import { outcomeText } from "../../lib/approvals.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";

/** The buttons of the four answers. Two of them open a form below. */
export function ApprovalActions({ row }: { row: ApprovalRow }) {
  const isOffline = usePage((state) => state.connection !== "live");
  const { busy, result, problem, answer } = useAnswer(row);
  const [openForm, setOpenForm] = useState<"always" | "deny" | null>(null);
  const formId = useId();
  const isDone = busy !== null || result !== null;
  const toggle = (form: "always" | "deny") => ({
    busy: isDone,
    disabled: isOffline,
    "aria-expanded": openForm === form,
    "aria-controls": openForm === form ? formId : undefined,
    onClick: () => setOpenForm(openForm === form ? null : form),
  });

  return (
    <>
      <div className="approval-actions">
        <ActionButton
          className="primary"
          data-testid="approve-once"
          busy={isDone}
          disabled={isOffline}
          onClick={() => answer("once", { approved: true, scope: "once" })}
        >
          {busy === "once" ? "Approving…" : "Approve once"}
        </ActionButton>
        {row.tool !== null && (
          <>
            <ActionButton
              data-testid="approve-run"
              title={`Later calls of ${row.tool} in this run with the same subcommand or host, and the same risk, need no approval`}
              busy={isDone}
              disabled={isOffline}
              onClick={() => answer("run", { approved: true, scope: "run" })}
            >
              {busy === "run" ? "Approving…" : "Approve for this run"}
            </ActionButton>
            <ActionButton data-testid="approve-always" {...toggle("always")}>
              {busy === "rule" ? "Approving…" : "Always…"}
            </ActionButton>
          </>
        )}
        <ActionButton className="danger" data-testid="deny" {...toggle("deny")}>
          {busy === "deny" ? "Denying…" : "Deny…"}
        </ActionButton>
      </div>
      {openForm === "always" && row.tool !== null && (
        <AlwaysForm
          id={formId}
          tool={row.tool}
          busy={isDone}
          disabled={isOffline}
          onApprove={(anyArguments) => answer("rule", { approved: true, scope: "rule", anyArguments })}
        />
      )}
      {openForm === "deny" && (
        <DenyForm
          id={formId}
          busy={isDone}
          disabled={isOffline}
          onDeny={(reason) => answer("deny", { approved: false, scope: "once", reason })}
        />
      )}
      <p className="approval-status" role="status">
        {busy !== null ? "Sending the answer…" : result}
      </p>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}

/** The pressed button. */
type Choice = "once" | "run" | "rule" | "deny";

interface AnswerState {
  busy: Choice | null;
  /** The result of the request. The row follows by the stream and removes the card. */
  result: string | null;
  problem: ApiProblem | null;
  answer(choice: Choice, answer: ApprovalDecision): void;
}

/** Sends the answer to an approval. */
function useAnswer(row: ApprovalRow): AnswerState {
  const action = useAction<Choice>();
  const [result, setResult] = useState<string | null>(null);
  const send = async (choice: Choice, answer: ApprovalDecision): Promise<void> => {
    const reply = await action.start(choice, () => api.answer(row.id, answer));
    if (reply === null) return;
    const outcome = outcomeText(reply.approval);
    setResult(reply.outcome === "settled" ? `Your answer came too late. The approval was already ${outcome}` : outcome);
  };
  return {
    busy: action.busy,
    result,
    problem: action.problem,
    answer: (choice, answer) => void send(choice, answer),
  };
}

interface AlwaysFormProps {
  id: string;
  tool: string;
  busy: boolean;
  disabled: boolean;
  onApprove(anyArguments: boolean): void;
}

/** Chooses the arguments of a stored rule. */
function AlwaysForm({ id, tool, busy, disabled, onApprove }: AlwaysFormProps) {
  const [anyArguments, setAnyArguments] = useState(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!busy) onApprove(anyArguments);
  };
  const option = (any: boolean, label: string) => (
    <label className="choice">
      <input type="radio" name={`${id}-scope`} checked={anyArguments === any} onChange={() => setAnyArguments(any)} />
      {label}
    </label>
  );
  return (
    <form id={id} className="approval-form" onSubmit={submit}>
      <fieldset>
        <legend>Always approve {tool} with</legend>
        {option(false, "these arguments")}
        {option(true, `any arguments of ${tool}`)}
      </fieldset>
      <p className="hint">This stores a rule on this machine. You can remove it under Approvals.</p>
      <ActionButton type="submit" className="primary" data-testid="approve-rule" busy={busy} disabled={disabled}>
        Approve always
      </ActionButton>
    </form>
  );
}

interface DenyFormProps {
  id: string;
  busy: boolean;
  disabled: boolean;
  onDeny(reason: string | null): void;
}

/** Denies with an optional reason. */
function DenyForm({ id, busy, disabled, onDeny }: DenyFormProps) {
  const [reason, setReason] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!busy) onDeny(reason.trim() || null);
  };
  return (
    <form id={id} className="approval-form" onSubmit={submit}>
      <label htmlFor={`${id}-reason`}>
        Reason <span className="soft">(optional, the agent reads it)</span>
      </label>
      <div className="one-line">
        <input
          id={`${id}-reason`}
          ref={input}
          value={reason}
          maxLength={2_000}
          autoComplete="off"
          onChange={(event) => setReason(event.target.value)}
        />
        <ActionButton type="submit" className="danger" data-testid="deny-now" busy={busy} disabled={disabled}>
          Deny
        </ActionButton>
      </div>
    </form>
  );
}
