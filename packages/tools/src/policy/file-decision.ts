import type { Policy, ToolContext } from "@troupe/core";
import {
  type BoundContent,
  type FileLosses,
  staleApproval,
  type ToolAssessment,
  type ToolExamination,
} from "@troupe/core/internal";
import type { BoundCall } from "@troupe/core/tool";
import { boundContent } from "../approved-content/bound-content.ts";
import type { CommandReview } from "../file-losses/command-losses.ts";
import type { PolicyDecision } from "./check-policy.ts";

/** The decision about a call, with the files that it would lose and run. */
export interface FileDecision {
  /** The decision about a call that no person has allowed yet, or a denial. */
  verdict: ToolAssessment;
  state: Pick<ToolExamination, "losses" | "bound">;
}

/** Decides about a call whose files were looked at. `shown` is the content of its preview. */
export function decideWithFiles(
  { verdict, bound: call, rule, sends }: PolicyDecision,
  { losses, shown = [] }: Pick<CommandReview, "losses"> & { shown?: readonly BoundContent[] },
  { policy, context }: { policy: Pick<Policy, "commands">; context: ToolContext },
): FileDecision {
  if (verdict.decision === "deny" || call === null) return { verdict, state: {} };
  const decision = policy.commands?.loss ?? "ask";
  const counted = decision === "allow" ? null : losses;
  if (counted !== null && decision === "deny") {
    const reason = `this machine's policy denies it (commands.loss): ${lossText(counted)}`;
    return { verdict: { ...verdict, decision, reason }, state: {} };
  }
  // The person who stored a rule for exactly this command has decided about its files, too.
  const isAnswered = context.approved || (rule !== null && rule.argsHash !== null);
  const lost = isAnswered ? null : counted;
  const ruleBound = verdict.decision === "allow" ? rule?.bound : undefined;
  const needsContent = context.approved || verdict.decision === "ask" || ruleBound !== undefined || lost !== null;
  const content = needsContent && !sends ? contentOf(call, context) : [];
  const bound = needsContent ? [...content, ...shown] : [];
  const outdated = ruleBound === undefined ? null : staleApproval({ bound: ruleBound }, { bound });
  const state = { ...(counted === null ? {} : { losses: counted }), ...(needsContent ? { bound } : {}) };
  return { verdict: askedFor(verdict, { outdated, lost, rule }), state };
}

/** The decision with all reasons to ask. */
function askedFor(
  assessed: ToolAssessment,
  { outdated, lost, rule }: { outdated: string | null; lost: FileLosses | null } & Pick<PolicyDecision, "rule">,
): ToolAssessment {
  const reasons = [
    assessed.decision === "ask" ? assessed.reason : null,
    outdated === null ? null : `${outdated} that made the stored rule ${rule?.id}`,
    lost === null ? null : lossText(lost),
  ].filter((reason) => reason !== null);
  return reasons.length === 0 ? assessed : { ...assessed, decision: "ask", reason: reasons.join("; and ") };
}

/** The parts that a later call needs besides its commands, so that an approval for the run covers it. */
export function contentParts({ losses, bound = [] }: FileDecision["state"]): string[] {
  const contents = bound.map(({ path, digest }) => `content ${path} ${digest}`);
  return losses === undefined ? contents : [...contents, `losses ${losses.digest}`];
}

/** Content that the call runs. A call without a command runs nothing of the workspace. */
export function contentOf({ command }: Pick<BoundCall, "command">, { workspace }: ToolContext): BoundContent[] {
  return command ? boundContent(command, workspace) : [];
}

const shownMax = 5;

/** The lost files, for a person. */
export function lossText({ files, count, bytes, more }: FileLosses): string {
  const names = files.slice(0, shownMax).map(({ path }) => path);
  const rest = count - names.length;
  const list = names.join(", ") + (rest > 0 ? ` and ${rest}${more ? " or more" : ""} others` : "");
  const number = count === 1 ? "a file" : `${count}${more ? " or more" : ""} files`;
  return `it deletes or overwrites ${number} that git does not have (${sizeText(bytes)}): ${list}`;
}

/** @example sizeText(2048); // "2.0 kB" */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
