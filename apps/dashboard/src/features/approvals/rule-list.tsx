import type { ApprovalRule } from "@troupe/core/internal";
import { useCallback, useEffect, useRef, useState } from "react";
import { AnswerBadge } from "../../components/badges.tsx";
import { ConfirmButton } from "../../components/buttons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import { useNow } from "../../lib/clock.ts";
import { formatAge } from "../../lib/format.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";
import { ArgumentBlocks } from "./argument-blocks.tsx";

/** The stored rules of approvals, with a button to remove each. */
export function RuleList() {
  const { rules, problem, reload } = useRules();
  if (rules === null) return problem ? <ProblemNote problem={problem} /> : <p className="soft">Loading the rules…</p>;
  return (
    <>
      {problem && <ProblemNote problem={problem} />}
      {rules.length === 0 ? (
        <p className="soft">No rules. “Always…” on an approval creates one.</p>
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
  const isOffline = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction();
  const remove = async (): Promise<void> => {
    await start("remove", () => api.removeRule(rule.id));
    // After a failure as well, because the rule may be gone already.
    onRemoved();
  };
  return (
    <li data-testid="approval-rule" data-rule={rule.id}>
      <div className="rule-head">
        <AnswerBadge state={rule.decision === "allow" ? "approved" : "denied"} text={rule.decision} />
        <code>{rule.tool}</code>
        <span className="soft">{rule.argsHash === null ? "with any arguments" : "with these arguments"}</span>
        <ConfirmButton
          confirmLabel="Really remove?"
          busyLabel="Removing…"
          busy={busy !== null}
          disabled={isOffline}
          testId="remove-rule"
          warning={`Calls of ${rule.tool} that match this rule will need approval again.`}
          onConfirm={() => void remove()}
        >
          Remove<span className="visually-hidden"> the rule for {rule.tool}</span>
        </ConfirmButton>
      </div>
      {rule.argsHash !== null && <ArgumentBlocks args={rule.args} />}
      <p className="approval-facts">
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

interface Rules {
  rules: readonly ApprovalRule[] | null;
  problem: ApiProblem | null;
  reload(): void;
}

/** Loads the stored rules. The stream does not contain them, so each new rule of an approval causes a reload. */
function useRules(): Rules {
  const live = usePage((state) => state.connection === "live");
  const ruleCount = usePage((state) => (state.approvals ?? []).filter(({ scope }) => scope === "rule").length);
  const [loaded, setLoaded] = useState<Omit<Rules, "reload">>({ rules: null, problem: null });
  const lastRequest = useRef(0);
  const reload = useCallback((): void => {
    lastRequest.current += 1;
    const request = lastRequest.current;
    api.rules().then(
      ({ rules }) => request === lastRequest.current && setLoaded({ rules, problem: null }),
      (thrown) => request === lastRequest.current && setLoaded(({ rules }) => ({ rules, problem: problemOf(thrown) })),
    );
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: reloads after a reconnect and after a new rule
  useEffect(() => {
    if (live) reload();
  }, [live, ruleCount, reload]);
  return { ...loaded, reload };
}
