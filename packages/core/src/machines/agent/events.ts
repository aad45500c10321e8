import type { BatchNews, BatchOutput } from "../batch/machine.ts";
import type { RunFact } from "../facts.ts";

/** All that an agent machine can receive. */
export type AgentEvent =
  | RunFact
  | BatchNews
  | { type: `xstate.done.actor.batch/${string}`; output: BatchOutput }
  /** A hint for the delegation of that task; never in the journal. */
  | { type: "child.claimed"; step: number; call: number; item: number };
