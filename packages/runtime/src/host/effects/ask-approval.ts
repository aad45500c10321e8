import type { EntryBody, RunRequest } from "@troupe/core";
import { type Approval, approvalId, canonicalJson, hashText, wholeRunStep } from "@troupe/core/internal";
import type { Perform } from "./effect.ts";

interface Asked extends Pick<Approval, "tool" | "args" | "risk" | "reason"> {
  step: number;
  call: number;
}

/**
 * The question that a person is asked. Its id is bound to the call and to every byte of its arguments: the same
 * question has the same id after a restart, and an answer to one never fits another.
 */
export function approvalRequested({ run, chain, agent }: RunRequest, asked: Asked): EntryBody {
  const { step, call, tool, args, risk, reason } = asked;
  const id = approvalId({ run, step, call, argsHash: hashText(canonicalJson(args)) });
  const approval: Approval = { id, tool, args, risk, reason, path: [...chain, agent] };
  return { kind: "approval.requested", step, call, approval };
}

/** Asks whether the run may begin at all. The answer comes through the session's inbox, from whoever gives it. */
export const askApproval: Perform<"askApproval"> = async ({ reason }, { request }) =>
  approvalRequested(request, {
    step: wholeRunStep,
    call: 0,
    tool: null,
    args: { task: request.task },
    risk: "high",
    reason,
  });
