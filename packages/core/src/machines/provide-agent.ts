import { type EventObject, fromCallback } from "xstate";
import { agentMachine } from "./agent/machine.ts";
import { batchMachine } from "./batch/machine.ts";
import { delegationMachine } from "./delegation/machine.ts";
import type { Effect, EffectKind, EffectOf } from "./effects.ts";

/**
 * The agent machine with a world behind its places, whatever that is: a host does the effects, a test notes them.
 *
 * One machine serves every run of a host (providing costs more than a run's whole life), so effects carry the id of
 * their run.
 *
 * @param begin starts an effect and returns what stops it
 *
 * @example
 * const wanted: string[] = [];
 * const machine = provideAgent((effect) => {
 *   wanted.push(effectKey(effect));
 *   return () => {};
 * });
 */
export function provideAgent(begin: (effect: Effect) => () => void): typeof agentMachine {
  const place = <K extends EffectKind>(_kind: K) =>
    fromCallback<EventObject, EffectOf<K>>(({ input }) => begin(input as Effect));
  const delegation = delegationMachine.provide({
    actors: {
      runChild: place("runChild"),
      cancelChild: place("cancelChild"),
      dropChild: place("dropChild"),
      startTimer: place("startTimer"),
    },
  });
  return agentMachine.provide({
    actors: {
      assessIntent: place("assessIntent"),
      askApproval: place("askApproval"),
      callModel: place("callModel"),
      planCalls: place("planCalls"),
      summarise: place("summarise"),
      trim: place("trim"),
      compact: place("compact"),
      callTool: place("callTool"),
      batch: batchMachine.provide({ actors: { delegation } }),
      startTimer: place("startTimer"),
      verify: place("verify"),
      settle: place("settle"),
    },
  });
}
