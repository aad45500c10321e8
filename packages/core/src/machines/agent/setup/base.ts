import { setup } from "xstate";
import type { RunResponse } from "../../../protocol/response.ts";
import { batchMachine } from "../../batch/machine.ts";
import { effectActor } from "../../effects.ts";
import type { AgentContext, AgentInput } from "../context.ts";
import type { AgentEvent } from "../events.ts";

/** Types and actors of the agent machine. Its guards and actions are in one file per concern, combined in `../setup.ts`. */
export const agentBase = setup({
  types: {
    context: {} as AgentContext,
    input: {} as AgentInput,
    output: {} as RunResponse,
    events: {} as AgentEvent,
  },
  actors: {
    assessIntent: effectActor("assessIntent"),
    askApproval: effectActor("askApproval"),
    callModel: effectActor("callModel"),
    planCalls: effectActor("planCalls"),
    summarise: effectActor("summarise"),
    trim: effectActor("trim"),
    compact: effectActor("compact"),
    callTool: effectActor("callTool"),
    batch: batchMachine,
    startTimer: effectActor("startTimer"),
    checkChildren: effectActor("checkChildren"),
    verify: effectActor("verify"),
    settle: effectActor("settle"),
  },
});

/** A guard of the agent machine. */
export type Guard = (args: { context: AgentContext; event: AgentEvent }) => boolean;
