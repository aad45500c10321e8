import type { Grant } from "../protocol/request.ts";
import type { ToolCall, ToolOutcome, ToolSpec } from "../protocol/tool.ts";

/** The hands of this machine. */
export interface ToolHost {
  specs(): readonly ToolSpec[];
  /**
   * Runs one call. Never throws for anything a model could cause: unknown tool, tool not granted, arguments that do
   * not fit and failures of the tool all come back as an outcome with an error.
   */
  run(call: ToolCall, context: ToolContext): Promise<ToolOutcome>;
  /**
   * For a call of class `verifiable` that may have been started before: the outcome if it really happened, null if it
   * did not and can be run.
   */
  verify(call: ToolCall, context: ToolContext): Promise<ToolOutcome | null>;
}

export interface ToolContext {
  session: string;
  run: string;
  agent: string;
  /** The only folder that file tools may touch. */
  workspace: string;
  grant: Grant;
  signal: AbortSignal;
  /** The same for every try of the same call. */
  idempotencyKey: string;
}
