import {
  complianceFailed,
  complianceMessage,
  complianceMessageInjected,
  complianceVerified,
  type EffectOf,
  type TraceEvent,
} from "@troupe/core/internal";
import { type CheckFact, verifyAll } from "../../verifiers/verifier.ts";
import { checkTool } from "./check-tool.ts";
import type { EffectScope, Perform } from "./effect.ts";

type ChildCheck = EffectOf<"checkChildren">["checks"][number];

/** Checks results of children in their parent's folder. A check that cannot run counts as failed. */
export const checkChildren: Perform<"checkChildren"> = async ({ round, checks }, scope) => {
  const key = `check/${round}`;
  const checked = await Promise.all(
    checks.map(async (check) => {
      const { child, agent, verifier } = check;
      const { failures, events } = await checkChild(check, { key, answer: "", scope });
      return { result: { child, agent, verifier: verifier.name, failures }, events };
    }),
  );
  const results = checked.map(({ result }) => result);
  const events = [...checked.flatMap((each) => each.events), ...injected(results)];
  return { kind: "children.checked", round, results, ...(events.length > 0 ? { events } : {}) };
};

/** What does not hold of a child's result, by one check, and the events of it for the trace. */
export async function checkChild(
  check: ChildCheck,
  { key, answer, scope }: { key: string; answer: string; scope: EffectScope },
): Promise<{ failures: string[]; events: TraceEvent[] }> {
  const { verifier, response, task } = check;
  const { deps, folder } = scope;
  const runTool = checkTool(scope, `${key}/${response.runId}`);
  const facts: CheckFact[] = [];
  const note = (fact: CheckFact): void => void facts.push(fact);
  const subject = { response, task, answer, workspace: folder.path, key, runTool, note };
  const failures = await verifyAll(deps.verifiers, [verifier], subject, deps);
  return { failures, events: eventsOf(check, failures, facts) };
}

/** A check that does not concern the result leaves no event. */
function eventsOf(
  { child, agent, verifier }: ChildCheck,
  failures: string[],
  facts: readonly CheckFact[],
): TraceEvent[] {
  const fields = { child, child_agent: agent, verifier: verifier.name };
  const missing = facts.flatMap((fact) => ("missingFile" in fact ? [fact.missingFile] : []));
  if (failures.length === 0) return facts.some((fact) => "applies" in fact) ? [] : [complianceVerified(fields)];
  if (missing.length === 0) return [complianceFailed(null, { ...fields, reason: failures.join("; ").slice(0, 200) })];
  return missing.map((file) => complianceFailed(file, fields));
}

/** The machine puts this message into the conversation as soon as the entry is stored. */
function injected(results: readonly { agent: string; failures: string[] }[]): TraceEvent[] {
  const failed = results.filter(({ failures }) => failures.length > 0);
  return failed.length > 0 ? [complianceMessageInjected(complianceMessage(failed))] : [];
}
