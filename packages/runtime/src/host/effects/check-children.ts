import type { EffectOf } from "@troupe/core/internal";
import { verifyAll } from "../../verifiers/verifier.ts";
import { checkTool } from "./check-tool.ts";
import type { EffectScope, Perform } from "./effect.ts";

type ChildCheck = EffectOf<"checkChildren">["checks"][number];

/** Checks results of children in their parent's folder. A check that cannot run counts as failed. */
export const checkChildren: Perform<"checkChildren"> = async ({ round, checks }, scope) => {
  const key = `check/${round}`;
  const results = await Promise.all(
    checks.map(async (check) => {
      const { child, agent, verifier } = check;
      return {
        child,
        agent,
        verifier: verifier.name,
        failures: await childFailures(check, { key, answer: "", scope }),
      };
    }),
  );
  return { kind: "children.checked", round, results };
};

/** What does not hold of a child's result, by one check. */
export async function childFailures(
  { verifier, response, task }: ChildCheck,
  { key, answer, scope }: { key: string; answer: string; scope: EffectScope },
): Promise<string[]> {
  const { deps, folder } = scope;
  const runTool = checkTool(scope, `${key}/${response.runId}`);
  const subject = { response, task, answer, workspace: folder.path, key, runTool };
  return await verifyAll(deps.verifiers, [verifier], subject, deps);
}
