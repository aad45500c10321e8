import type { ToolOutcome } from "@troupe/core";
import type { CheckTool } from "../../verifiers/verifier.ts";
import { type EffectScope, toolContext } from "./effect.ts";

/**
 * Runs a tool for a check: within the run's grant, under this machine's policy, and without any write access. A call that
 * would need a person is refused.
 */
export function checkTool(scope: EffectScope, key: string): CheckTool {
  const { deps } = scope;
  let calls = 0;
  return async (name, args): Promise<ToolOutcome> => {
    calls += 1;
    const own = toolContext(scope, `${key}/${calls}`, { approved: false, plan: null });
    const grant = { ...own.grant, writes: [...own.grant.writes, []] };
    return deps.tools.run({ id: `check-${calls}`, name, args, problem: null }, { ...own, grant });
  };
}
