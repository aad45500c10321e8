import { assign } from "xstate";
import type { RunOutcome } from "./context.ts";
import { agentBase } from "./setup/base.ts";
import { checkActions, checkGuards } from "./setup/checks.ts";
import { controlActions, controlGuards } from "./setup/control.ts";
import { delegationActions, delegationGuards } from "./setup/delegation.ts";
import { endingActions, endingGuards } from "./setup/ending.ts";
import { modelActions, modelGuards } from "./setup/model.ts";
import { toolActions, toolGuards } from "./setup/tools.ts";

/** Types, actors, guards and actions of the agent machine, one file of `setup/` per concern. */
export const agentSetup = agentBase.extend({
  guards: { ...controlGuards, ...modelGuards, ...toolGuards, ...delegationGuards, ...checkGuards, ...endingGuards },
  actions: {
    ...controlActions,
    ...modelActions,
    ...toolActions,
    ...delegationActions,
    ...checkActions,
    ...endingActions,
    setOutcome: assign((_, params: { outcome: RunOutcome }) => ({ outcome: params.outcome })),
  },
});
