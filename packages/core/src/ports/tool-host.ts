import type { Risk } from "../protocol/agent.ts";
import type { Grant } from "../protocol/request.ts";
import type { FilePlan, ToolCall, ToolOutcome, ToolSpec } from "../protocol/tool.ts";

/** The hands of this machine. */
export interface ToolHost {
  /**
   * Makes ready what a workspace has of its own, as it is now (null: what is there everywhere). Whoever asks for its `specs`, or for a call in it, does this
   * first. Never throws.
   *
   * @default there is nothing to be made ready
   */
  prepare?(workspace: string | null): Promise<void>;
  /** The tools that there are: everywhere, and in this workspace alone. */
  specs(workspace?: string | null): readonly ToolSpec[];
  /**
   * What this machine's policy and its stored rules say to a call, before it is run. Never throws: a call that cannot
   * be run at all is allowed here, since running it says why.
   */
  assess(call: ToolCall, context: ToolContext): ToolAssessment;
  /**
   * Runs one call. Never throws for anything a model could cause: unknown tool, tool not granted, arguments that do
   * not fit and failures of the tool all come back as an outcome with an error.
   */
  run(call: ToolCall, context: ToolContext): Promise<ToolOutcome>;
  /**
   * For a call of class `verifiable`: what it is about to do to files. Null where it cannot be said, and running the call
   * says why.
   */
  plan(call: ToolCall, context: ToolContext): Promise<FilePlan[] | null>;
  /**
   * For a call of class `verifiable` that may have been started before: the outcome if it really happened, null if it
   * did not and can be run.
   */
  verify(call: ToolCall, context: ToolContext): Promise<ToolOutcome | null>;
}

/** `ask`: a person has to allow it first. */
export interface ToolAssessment {
  decision: "allow" | "ask" | "deny";
  risk: Risk;
  /** Why, in words for a person. */
  reason: string;
}

export interface ToolContext {
  session: string;
  run: string;
  agent: string;
  /** The only folder that file tools may touch. */
  workspace: string;
  /** The session's folder, whose own tools and rules count; null where none do. @default the workspace */
  project?: string | null;
  grant: Grant;
  signal: AbortSignal;
  /** The same for every try of the same call. */
  idempotencyKey: string;
  /** A person has allowed this very call: policy asks no more, though it may still deny. */
  approved: boolean;
  /** Of what the model is to read of its output, where its conversation has little room. */
  outputBytesMax?: number;
  /** What was journaled before the call began: it does this, or nothing. Null where nothing was. */
  plan: readonly FilePlan[] | null;
}
