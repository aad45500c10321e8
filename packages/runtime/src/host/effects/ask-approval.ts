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

type AskedFields = "tool" | "args" | "risk" | "reason" | "covers" | "losses" | "bound" | "preview";

interface ApprovalQuestion extends Pick<Approval, AskedFields> {
  step: number;
  call: number;
  /** The approval of the same call that is not valid any more. */
  after?: string;
}

/**
 * The entry that asks a person for approval. Its id depends on the call, on every byte of its arguments, on the files
 * that it runs and loses, and on its preview: the question keeps its id after a restart, and an answer never fits another call.
 */
export function approvalRequested({ run, chain, agent }: RunRequest, question: ApprovalQuestion): EntryBody {
  const { step, call, after, ...asked } = question;
  const { losses, bound = [] } = asked;
  const state =
    losses || bound.length > 0 ? { stateHash: hashText(canonicalJson([losses?.digest ?? null, bound])) } : {};
  const argsHash = hashText(canonicalJson(asked.args));
  const id = approvalId({ run, step, call, argsHash, ...state, ...(after === undefined ? {} : { after }) });
  const approval: Approval = { id, ...asked, path: [...chain, agent] };
  return { kind: "approval.requested", step, call, approval };
}
