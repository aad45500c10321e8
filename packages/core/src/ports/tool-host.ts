import type { Risk } from "../protocol/agent.ts";
import type { ApprovedState, BoundContent, FileLosses } from "../protocol/approval.ts";
import type { CallPreview } from "../protocol/call-preview.ts";
import type { Grant } from "../protocol/request.ts";
import type { Taint } from "../protocol/taint.ts";
import type { FilePlan, ToolCall, ToolOutcome, ToolSpec } from "../protocol/tool.ts";

/** Runs the tools of this machine. */
export interface ToolHost {
  /**
   * Loads the current tools of a workspace (null: only the tools for every workspace). Call it before `specs` and before
   * calls in that workspace. Never throws.
   *
   * @default absent: no workspace has tools of its own
   */
  prepare?(workspace: string | null): Promise<void>;
  /** Tools for every workspace, and those of this one. */
  specs(workspace?: string | null): readonly ToolSpec[];
  /**
   * Checks a call against this machine's policy and stored rules. Never throws. An invalid call is allowed here, because
   * running it gives the better error.
   */
  assess(call: ToolCall, context: ToolContext): ToolAssessment;
  /**
   * The calls that an approval of this one covers. The host asks only about calls for which `assess` returns `ask`. Never throws.
   *
   * @default absent, or null: an approval for the rest of the run covers every call of the tool
   */
  reachOf?(call: ToolCall, context: ToolContext): Promise<ApprovalReach | null>;
  /**
   * The decision about a call after a look at the files that it would delete, overwrite or run. With an approval
   * (`context.approved`) it tells what the call would do now, to compare it with the approval. Never throws.
   *
   * @default absent: `assess` decides alone
   */
  examine?(call: ToolCall, context: ToolContext): Promise<ToolExamination>;
  /**
   * Runs one call. Never throws for errors that a model can cause: an unknown tool, a missing grant, invalid arguments and
   * failures of the tool are outcomes with an error.
   */
  run(call: ToolCall, context: ToolContext): Promise<ToolOutcome>;
  /** For a `verifiable` call: its intended file changes. Null if they are unknown; running the call then gives the error. */
  plan(call: ToolCall, context: ToolContext): Promise<FilePlan[] | null>;
  /** For a `verifiable` call that may have run before: its outcome if it happened, null if it can run now. */
  verify(call: ToolCall, context: ToolContext): Promise<ToolOutcome | null>;
}

/** The policy's decision about a call. `ask`: a person has to allow it first. */
export interface ToolAssessment {
  decision: "allow" | "ask" | "deny";
  risk: Risk;
  /** The reason, for a person. */
  reason: string;
}

/** The calls that an approval of one call covers. */
export interface ApprovalReach {
  /** See `Approval.covers`. */
  covers: string[];
}

/** A decision about a call, and the files that it is about. */
export interface ToolExamination extends ToolAssessment, Partial<ApprovalReach> {
  /** See `Approval.losses`. */
  losses?: FileLosses;
  /** See `Approval.bound`. Absent: no person is asked about the call. */
  bound?: BoundContent[];
  /** See `Approval.preview`. */
  preview?: CallPreview;
}

export interface ToolContext {
  session: string;
  run: string;
  agent: string;
  /** The only folder that file tools may access. */
  workspace: string;
  /** The session's folder, whose tools and rules are used; null for none. @default the workspace */
  project?: string | null;
  grant: Grant;
  signal: AbortSignal;
  /** The same for every try of a call. */
  idempotencyKey: string;
  /** A person has allowed this call: the policy does not ask again, but may still deny it. */
  approved: boolean;
  /** The files of the approval. The call runs only if it still has the same effect on the same files. Absent: not compared. */
  approval?: Pick<ApprovedState, "losses" | "bound">;
  /** The most bytes of output for the model, if its conversation has little space left. */
  outputBytesMax?: number;
  /** The journaled plan of the call: it must do exactly this or nothing. Null if there is none. */
  plan: readonly FilePlan[] | null;
  /** Untrusted and private sources that the run has read so far. Absent: none. */
  taint?: Taint;
  /**
   * Folders of reports. After a crawl, files in them may be written only when the corpus is saved and read back.
   * Absent: no such order.
   */
  corpusFirst?: readonly string[];
}
