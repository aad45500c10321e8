import type { ApprovalRule } from "@troupe/core/internal";
import { AnswerBadge } from "../../components/answer-badge.tsx";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { api } from "../../lib/api.ts";
import { useNow } from "../../lib/clock.ts";
import { formatAge } from "../../lib/format.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";
import { ArgumentBlocks } from "./argument-blocks.tsx";
import { useRules } from "./use-rules.ts";

/** What is not asked about again, and how to change that. */
export function RuleList() {
  const { rules, problem, reload } = useRules();
  if (rules === null) return problem ? <ProblemNote problem={problem} /> : <p className="soft">Loading the rules…</p>;
  return (
    <>
      {problem && <ProblemNote problem={problem} />}
      {rules.length === 0 ? (
        <p className="soft">No rules. “Always…” on an approval makes one.</p>
      ) : (
        <ul className="rule-list">
          {rules.map((rule) => (
            <Rule key={rule.id} rule={rule} onRemoved={reload} />
          ))}
        </ul>
      )}
    </>
  );
}

function Rule({ rule, onRemoved }: { rule: ApprovalRule; onRemoved(): void }) {
  const now = useNow(true);
  const away = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction();
  const remove = async (): Promise<void> => {
    await start("remove", () => api.removeRule(rule.id));
    // Also after a failure: it may be gone already.
    onRemoved();
  };
  return (
    <li data-testid="approval-rule" data-rule={rule.id}>
      <div className="rule-head">
        <AnswerBadge state={rule.decision === "allow" ? "approved" : "denied"} word={rule.decision} />
        <code>{rule.tool}</code>
        <span className="soft">{rule.argsHash === null ? "with any arguments" : "with these arguments"}</span>
        <ConfirmButton
          sure="Really remove?"
          doing="Removing…"
          busy={busy !== null}
          disabled={away}
          testId="remove-rule"
          warning={`Calls of ${rule.tool} that this rule fits are asked about again.`}
          onConfirm={() => void remove()}
        >
          Remove<span className="heard-only"> the rule for {rule.tool}</span>
        </ConfirmButton>
      </div>
      {rule.argsHash !== null && <ArgumentBlocks args={rule.args} />}
      <p className="approval-place">
        <span>{rule.agent === null ? "any agent" : `agent ${rule.agent}`}</span>
        <span className="agent-text">in {rule.workspace}</span>
        <span>
          by {rule.by}, {formatAge(now - Date.parse(rule.createdAt))}
        </span>
      </p>
      {problem && <ProblemNote problem={problem} />}
    </li>
  );
}
