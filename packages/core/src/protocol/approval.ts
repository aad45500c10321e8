import { z } from "zod";
import { Risk } from "./agent.ts";
import { derivedId, Id, Token } from "./ids.ts";
import { Json } from "./json.ts";

/** Step 0 stands for the run itself: its intent was found to be of high risk before any call. */
export const wholeRunStep = 0;

/** What a person is asked to allow. */
export const Approval = z.object({
  id: Id,
  /** The tool; for a whole run, null. */
  tool: z.string().nullable(),
  /** All arguments, as they will be used: the answer is bound to them. */
  args: Json,
  risk: Risk,
  /** Why a person is asked. */
  reason: z.string(),
  /** Who asks: agents from the root down to the requester. */
  path: z.array(Token),
});
export type Approval = z.infer<typeof Approval>;

/** How far an answer reaches: this call, this tool for the rest of this run, or all calls that a stored rule fits. */
export const ApprovalScope = z.enum(["once", "run", "rule"]);
export type ApprovalScope = z.infer<typeof ApprovalScope>;

/** What makes a request for approval unique: the call, and exactly what would be done. */
export interface ApprovalKey {
  run: Id;
  step: number;
  call: number;
  argsHash: string;
}

/** The same question has the same id before and after a restart; changed arguments make it another question. */
export function approvalId({ run, step, call, argsHash }: ApprovalKey): Id {
  return derivedId(`approval/${run}/${step}/${call}/${argsHash}`);
}

/** A stored answer: calls that it fits are not asked about again on this machine. */
export const ApprovalRule = z.object({
  id: Id,
  decision: z.enum(["allow", "deny"]),
  tool: z.string().min(1),
  /** Hash of the canonical arguments that it is for; null for any arguments. */
  argsHash: z.string().nullable(),
  /** The arguments in readable form, for `troupe rules ls`; null where any fit. */
  args: Json.nullable(),
  /** The workspace folder in which it holds. */
  workspace: z.string(),
  agent: Token.nullable(),
  createdAt: z.iso.datetime(),
  by: z.string(),
});
export type ApprovalRule = z.infer<typeof ApprovalRule>;
