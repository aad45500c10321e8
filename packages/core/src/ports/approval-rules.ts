import type { SimpleCommand } from "../permissions/command-pattern.ts";
import type { ApprovalRule } from "../protocol/approval.ts";
import type { ToolCall } from "../protocol/tool.ts";

/** Workspace and agent of a call. A rule is valid in one workspace, and may be for one agent only. */
export interface RuleScope {
  workspace: string;
  agent: string;
}

/** The stored approval rules of this machine. */
export interface ApprovalRules {
  /** In the order of their creation. */
  list(): readonly ApprovalRule[];
  /**
   * The rule that decides a call; null if none matches. A denial wins.
   *
   * @param commands the commands of the call, for rules about commands. Null if they cannot be told.
   */
  match(
    call: Pick<ToolCall, "name" | "args">,
    scope: RuleScope,
    commands?: readonly SimpleCommand[] | null,
  ): ApprovalRule | null;
  /** Resolves when the rule is on disk. Returns the existing rule if it says the same. */
  add(rule: ApprovalRule): Promise<ApprovalRule>;
  /** Returns the removed rule; null if the id is unknown. */
  remove(id: string): Promise<ApprovalRule | null>;
}
