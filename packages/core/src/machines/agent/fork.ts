import { openClock } from "./clock.ts";
import type { AgentContext } from "./context.ts";
import { emptyUsageCounts } from "./usage.ts";

type Fresh = Pick<AgentContext, "clock" | "pin" | "usage" | "callReserve" | "childrenRequested">;

/**
 * The counts of a run that goes on as a fork: usage, caps and time start anew. Its conversation and changes stay. A model
 * call that was running in the original was not lost, so nothing is charged for it.
 */
export function beginFork(context: AgentContext, at: number): Fresh {
  const { pin, usage, children, step, clock } = context;
  const { toolsUsed, filesCreated, filesModified, filesDeleted, artifacts, testSuites, warnings, taint } = usage;
  const limits = { ...pin.limits, maxIterations: pin.limits.maxIterations + step };
  return {
    clock: clock.runningSince === null ? { activeMs: 0, runningSince: null } : openClock(at),
    pin: { ...pin, limits },
    usage: {
      ...emptyUsageCounts,
      ...{ toolsUsed, filesCreated, filesModified, filesDeleted, artifacts, testSuites, warnings, taint },
      // The children that go on with it are started again.
      charged: { ...emptyUsageCounts.charged, spawns: children.size },
    },
    callReserve: null,
    childrenRequested: children.size,
  };
}
