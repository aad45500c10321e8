import { spawnCommand } from "../../delegation/spawn-command.ts";
import type { Trigger } from "../../protocol/agent.ts";
import type { RunError } from "../../protocol/run-error.ts";
import type { AgentContext } from "./context.ts";

/**
 * A request that begins with `/spawn` delegates in its first turn, without a model. The model then answers with the child's
 * result in its conversation.
 */

/** Whether the turn with this number is the delegation of a `/spawn`. */
export function isSpawnTurn({ request }: Pick<AgentContext, "request">, step: number): boolean {
  return request.spawn !== undefined && step === 1;
}

/** An agent that has to do the work, and the words of the request that say so. */
export interface RequiredDelegation {
  trigger: Trigger;
  phrase: string;
}

/** The delegation that a `/spawn` makes mandatory. It replaces the delegations of the agent's triggers. */
export function spawnDelegation({ request }: Pick<AgentContext, "request">): RequiredDelegation | null {
  if (!request.spawn) return null;
  const { agent } = request.spawn;
  return { trigger: { words: [], agent, after: [] }, phrase: `${spawnCommand} ${agent}` };
}

/** Why the delegation of a `/spawn` was refused before its child started; null if it was not. */
export function spawnRefusal(context: AgentContext): RunError | null {
  return isSpawnTurn(context, context.step) ? (context.calls[0]?.refusal ?? null) : null;
}
