import type { ChildVerifier } from "../../protocol/agent.ts";
import type { RunResponse } from "../../protocol/response.ts";
import type { FactOf } from "../facts.ts";
import type { AgentContext } from "./context.ts";
import { batchKey, type TaskPosition } from "./task-ids.ts";

/** A child's result, with one check that it has to pass. */
export interface ChildCheck {
  /** The child's run. */
  child: string;
  agent: string;
  task: string;
  response: RunResponse;
  verifier: ChildVerifier;
}

/** A check that did not pass, until a later one of the same agent does. */
export interface FailedCheck extends ChildCheck {
  failures: readonly string[];
}

/** The checks that the definition declares for the result of a task. A child that never worked is not checked. */
export function checksOf(context: AgentContext, position: TaskPosition, response: RunResponse): ChildCheck[] {
  const { status, agent, runId: child } = response;
  if (status === "rejected" || status === "cancelled") return [];
  const task = context.batches[batchKey(position)]?.plan.tasks[position.item]?.request.task ?? "";
  return (context.pin.definition.childVerifiers ?? [])
    .filter((verifier) => applies(verifier, { agent, text: `${task}\n${response.summary}\n${response.details}` }))
    .map((verifier) => ({ child, agent, task, response, verifier }));
}

function applies({ agent, words }: ChildVerifier, result: { agent: string; text: string }): boolean {
  if (agent !== null && agent !== result.agent) return false;
  const text = result.text.toLowerCase();
  return words.length === 0 || words.some((word) => text.includes(word.toLowerCase()));
}

/** The checks that have no good outcome yet. The end of the run repeats them. */
export function openChecks({ uncheckedChildren, failedChecks }: AgentContext): ChildCheck[] {
  return [...uncheckedChildren, ...failedChecks.map(({ failures: _, ...check }) => check)];
}

/** The beginning of the message about results that do not hold. People and logs find it by these words. */
export const compliancePrefix = "COMPLIANCE ERROR: ";

/** The state after a round of checks, and the message to the model about those that failed. */
export function afterChecks(
  context: AgentContext,
  { results }: Pick<FactOf<"children.checked">, "results">,
): Pick<AgentContext, "uncheckedChildren" | "failedChecks" | "checkFailures"> & { message: string | null } {
  // Results that arrived meanwhile are behind the checked ones.
  const checked = context.uncheckedChildren
    .slice(0, results.length)
    .map((check, i): FailedCheck => ({ ...check, failures: results[i]?.failures ?? [] }));
  const isReplaced = (before: FailedCheck): boolean =>
    checked.some(({ agent, verifier }) => agent === before.agent && verifier.name === before.verifier.name);
  const failed = checked.filter(({ failures }) => failures.length > 0);
  return {
    uncheckedChildren: context.uncheckedChildren.slice(results.length),
    failedChecks: [...context.failedChecks.filter((before) => !isReplaced(before)), ...failed],
    checkFailures: [...context.checkFailures, ...failed.map(failureLine)],
    message: failed.length > 0 ? complianceMessage(failed) : null,
  };
}

/**
 * What the model reads about results that do not hold.
 *
 * @example
 * complianceMessage([{ agent: "writer", failures: ["corpus.json is missing"] }]); // "COMPLIANCE ERROR: results of …"
 */
export function complianceMessage(failed: readonly Pick<FailedCheck, "agent" | "failures">[]): string {
  const lines = failed.map((check) => `- ${failureLine(check)}`);
  return `${compliancePrefix}results of your agents were checked, and do not hold:\n${lines.join("\n")}\nAsk for the missing part, or supply it yourself. If it stays missing, tell the user.`;
}

/** The failures of one check, without a prefix that a verifier has written as well. */
function failureLine({ agent, failures }: Pick<FailedCheck, "agent" | "failures">): string {
  return `${agent}: ${failures.map((failure) => failure.replace(compliancePrefix, "")).join("; ")}`;
}
