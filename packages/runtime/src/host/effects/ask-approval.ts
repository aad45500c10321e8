import type { EntryBody, RunRequest } from "@troupe/core";
import { type Approval, approvalId, canonicalJson, hashText, wholeRunStep } from "@troupe/core/internal";
import type { Perform } from "./effect.ts";

/** Asks whether the run may start at all. The answer arrives as a command in the session's inbox. */
export const askApproval: Perform<"askApproval"> = async ({ reason }, { request }) =>
  approvalRequested(request, {
    step: wholeRunStep,
    call: 0,
    tool: null,
    args: { task: request.task },
    risk: "high",
    reason,
  });

interface ApprovalQuestion extends Pick<Approval, "tool" | "args" | "risk" | "reason" | "covers"> {
  step: number;
  call: number;
}

/**
 * The entry that asks a person for approval. Its id depends on the call and on every byte of its arguments: the question
 * keeps its id after a restart, and an answer never fits another call.
 */
export function approvalRequested({ run, chain, agent }: RunRequest, question: ApprovalQuestion): EntryBody {
  const { step, call, ...asked } = question;
  const id = approvalId({ run, step, call, argsHash: hashText(canonicalJson(asked.args)) });
  const approval: Approval = { id, ...asked, path: [...chain, agent] };
  return { kind: "approval.requested", step, call, approval };
}
