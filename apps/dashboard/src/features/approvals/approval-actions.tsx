import type { ApprovalRow } from "@troupe/core";
import { useId, useState } from "react";
import { ActionButton } from "../../components/action-button.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { usePage } from "../../lib/page-context.ts";
import { AlwaysForm } from "./always-form.tsx";
import { DenyForm } from "./deny-form.tsx";
import { useAnswer } from "./use-answer.ts";

/** The four answers. Two of them have something more to say, in a line that opens below. */
export function ApprovalActions({ row }: { row: ApprovalRow }) {
  const away = usePage((state) => state.connection !== "live");
  const { busy, said, problem, answer } = useAnswer(row);
  const [open, setOpen] = useState<"always" | "deny" | null>(null);
  const formId = useId();
  const done = busy !== null || said !== null;
  const toggle = (form: "always" | "deny") => ({
    busy: done,
    disabled: away,
    "aria-expanded": open === form,
    "aria-controls": open === form ? formId : undefined,
    onClick: () => setOpen(open === form ? null : form),
  });

  return (
    <>
      <div className="approval-actions">
        <ActionButton
          className="primary"
          data-testid="approve-once"
          busy={done}
          disabled={away}
          onClick={() => answer("once", { approved: true, scope: "once" })}
        >
          {busy === "once" ? "Approving…" : "Approve once"}
        </ActionButton>
        {row.tool !== null && (
          <>
            <ActionButton
              data-testid="approve-run"
              title={`${row.tool} is not asked about again in this run`}
              busy={done}
              disabled={away}
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
      {open === "always" && row.tool !== null && (
        <AlwaysForm
          id={formId}
          tool={row.tool}
          busy={done}
          disabled={away}
          onApprove={(anyArguments) => answer("rule", { approved: true, scope: "rule", anyArguments })}
        />
      )}
      {open === "deny" && (
        <DenyForm
          id={formId}
          busy={done}
          disabled={away}
          onDeny={(reason) => answer("deny", { approved: false, scope: "once", reason })}
        />
      )}
      <p className="approval-said" role="status">
        {busy !== null ? "Sending the answer…" : said}
      </p>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
