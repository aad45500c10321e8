import type { DelegationOutput } from "../delegation/machine.ts";
import type { RunFact } from "../events.ts";

/** All that an agent machine can receive. */
export type AgentEvent =
  | RunFact
  | { type: `xstate.done.actor.${string}`; output: DelegationOutput }
  /** A hint for the delegation of that call; never in the journal. */
  | { type: "child.claimed"; step: number; call: number };
