import type { ApprovalRule } from "../protocol/approval.ts";
import { canonicalJson, hashText } from "../protocol/hash.ts";
import type { ToolCall } from "../protocol/tool.ts";

/** The workspace and agent of a call: a rule holds in one workspace, and some rules for one agent only. */
export interface RuleScope {
  workspace: string;
  agent: string;
}

/** The answers that hold for good on this machine. */
export interface ApprovalRules {
  /** In the order in which they were made. */
  list(): readonly ApprovalRule[];
  /** The rule that decides a call; null where none fits. A denial wins over everything. */
  match(call: Pick<ToolCall, "name" | "args">, place: RuleScope): ApprovalRule | null;
  /** Resolves when it is on disk. One that says the same as a known one is that one. */
  add(rule: ApprovalRule): Promise<ApprovalRule>;
  /** The rule that was taken away; null where there is none of that id. */
  remove(id: string): Promise<ApprovalRule | null>;
}

/** The hash by which a rule knows its arguments again, whatever order their keys are in. */
export function hashArguments(args: ToolCall["args"]): string {
  return hashText(canonicalJson(args));
}
