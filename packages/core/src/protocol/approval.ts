import { z } from "zod";
import { Risk } from "./agent.ts";
import { CallPreview } from "./call-preview.ts";
import { canonicalJson, hashText } from "./hash.ts";
import { derivedId, Id, Token } from "./ids.ts";
import { Json } from "./json.ts";

/** Step 0 means the run itself: its intent was assessed as high risk before any call. */
export const wholeRunStep = 0;

/** Existing files that a call deletes or overwrites, whose content is in no commit of git. */
export const FileLosses = z.object({
  /** The first of them. A branch or a stash counts as one, with 0 bytes. */
  files: z.array(z.object({ path: z.string(), bytes: z.number().nonnegative() })),
  count: z.int().nonnegative(),
  bytes: z.number().nonnegative(),
  /** There are more: the search has a limit. */
  more: z.literal(true).exactOptional(),
  /** Changes with the set of files, and with the content of each. */
  digest: z.string(),
});
export type FileLosses = z.infer<typeof FileLosses>;

/** Content of a workspace that a call runs, or the message or event of a call. */
export const BoundContent = z.object({
  /** Relative to the workspace; `.` for the state of all its files; `previewPath` for a message or event. */
  path: z.string(),
  digest: z.string(),
  /** For the state of all files: the file that changed last. */
  newest: z.string().exactOptional(),
});
export type BoundContent = z.infer<typeof BoundContent>;

/** Stands for the message or event of a call in the content of an approval. */
export const previewPath = "the message or event of the call";

/** A request for a person's approval. */
export const Approval = z.object({
  id: Id,
  /** Null means the whole run. */
  tool: z.string().nullable(),
  /** All arguments as they will be used. The answer is valid for exactly these. */
  args: Json,
  risk: Risk,
  /** Why a person is asked. */
  reason: z.string(),
  /** Agents from the root down to the requester. */
  path: z.array(Token),
  /**
   * Together with the tool and the risk: the calls that an answer for the rest of the run allows. Each simple command of a
   * command line, a subcommand of git, or a host. Empty: only this call. Absent, as in entries of earlier versions: every
   * call of the tool.
   */
  covers: z.array(z.string()).exactOptional(),
  /** The files that the call deletes or overwrites. The answer is valid for these files in this state. Absent: nothing. */
  losses: FileLosses.exactOptional(),
  /**
   * Content that the call runs, sends or changes. The answer is valid for this content. Empty: nothing of the workspace. Absent, as in entries of
   * earlier versions: for any content.
   */
  bound: z.array(BoundContent).exactOptional(),
  /** The message or event of the call. Absent: the arguments say it all. */
  preview: CallPreview.exactOptional(),
});
export type Approval = z.infer<typeof Approval>;

/** The files of an answered approval. */
export const ApprovedState = Approval.pick({ id: true, losses: true, bound: true });
export type ApprovedState = z.infer<typeof ApprovedState>;

/**
 * The reason why an approval is not valid any more: the call would now run or lose something else. Null if it is valid.
 * An approval of an earlier version, which is bound to nothing, stays valid.
 *
 * @example
 * staleApproval({ bound: [{ path: "a.sh", digest: "1" }] }, { bound: [{ path: "a.sh", digest: "2" }] });
 * // "a.sh has changed since the approval"
 */
export function staleApproval(
  { bound, losses }: Pick<ApprovedState, "bound" | "losses">,
  now: Pick<ApprovedState, "bound" | "losses">,
): string | null {
  if (bound === undefined) return null;
  const known = new Map(bound.map(({ path, digest }) => [path, digest]));
  const changed = (now.bound ?? []).filter(({ path, digest }) => known.get(path) !== digest);
  if (changed.length > 0) {
    const named = changed.map(({ path, newest }) => (path === "." ? workspaceFile(newest) : path));
    return `${named.join(", ")} ${changed.length > 1 ? "have" : "has"} changed since the approval`;
  }
  if (now.losses === undefined || now.losses.digest === losses?.digest) return null;
  return "the call would now delete or overwrite other files than those of the approval";
}

/** The last change need not be the one that counts: a deleted file has no time. */
function workspaceFile(newest: string | undefined): string {
  return newest === undefined ? "a file of the workspace" : `a file of the workspace (the last change: ${newest})`;
}

/** The calls that a person has allowed for the rest of a run. */
export const RunAllowance = Approval.pick({ risk: true, covers: true }).extend({ tool: z.string() }).required();
export type RunAllowance = z.infer<typeof RunAllowance>;

/**
 * Whether allowances for the rest of the run cover another call. Each part of the call needs one, from the same tool and
 * risk. A call without parts is never covered.
 */
export function isCovered({ tool, risk, covers }: RunAllowance, allowances: readonly RunAllowance[]): boolean {
  const known = allowances.filter((each) => each.tool === tool && each.risk === risk).flatMap((each) => each.covers);
  return covers.length > 0 && covers.every((part) => known.includes(part));
}

/** A call that waits for its approval, and the reach of that. Absent: every call of the tool. */
interface WaitingCall {
  tool: string | null;
  reach?: RunAllowance;
}

/** Whether an approval of one waiting call for the rest of the run also releases another one. */
export function releases(answered: WaitingCall, other: WaitingCall): boolean {
  if (answered.reach === undefined) return answered.tool === other.tool;
  return other.reach !== undefined && isCovered(other.reach, [answered.reach]);
}

/** The reach of an answer: this call, the calls that it `covers` for the rest of the run, or all calls that a stored rule matches. */
export const ApprovalScope = z.enum(["once", "run", "rule"]);
export type ApprovalScope = z.infer<typeof ApprovalScope>;

/** Identifies a request for approval: the call and its exact arguments. */
export interface ApprovalKey {
  run: Id;
  step: number;
  call: number;
  argsHash: string;
  /** Hash of what the call runs and loses. Absent: neither. */
  stateHash?: string;
  /** The answered approval of the same call that is not valid any more. */
  after?: Id;
}

/** The id stays the same after a restart. Changed arguments, and another content of the files, give another id. */
export function approvalId({ run, step, call, argsHash, stateHash, after }: ApprovalKey): Id {
  const state = [stateHash, after].filter((part) => part !== undefined).map((part) => `/${part}`);
  return derivedId(`approval/${run}/${step}/${call}/${argsHash}${state.join("")}`);
}

/** A stored answer. Calls that it matches need no approval on this machine again. */
export const ApprovalRule = z.object({
  id: Id,
  decision: z.enum(["allow", "deny"]),
  /** A tool, or a pattern of its commands: `shell(git status:*)`. */
  tool: z.string().min(1),
  /** Hash of the canonical arguments; null matches any arguments. */
  argsHash: z.string().nullable(),
  /** The arguments in readable form, for `troupe rules ls`; null matches any. */
  args: Json.nullable(),
  /** The workspace folder where it is valid. */
  workspace: z.string(),
  agent: Token.nullable(),
  createdAt: z.iso.datetime(),
  by: z.string(),
  /** The content that the call ran when the rule was made. Absent: any content. */
  bound: z.array(BoundContent).exactOptional(),
});
export type ApprovalRule = z.infer<typeof ApprovalRule>;

/** The hash by which a rule recognises arguments, whatever the order of their keys. */
export function hashArguments(args: Json): string {
  return hashText(canonicalJson(args));
}
