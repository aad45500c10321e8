import { type EventObject, fromCallback } from "xstate";
import { agentMachine } from "./agent/machine.ts";
import { batchMachine } from "./batch/machine.ts";
import { delegationMachine } from "./delegation/machine.ts";
import type { Effect, EffectKind, EffectOf } from "./effects.ts";

/**
 * The agent machine with its effects connected: a host runs them, a test records them.
 *
 * One machine serves every run of a host, because providing costs more than a whole run does. So every effect carries the
 * id of its run.
 *
 * @param begin starts an effect and returns a function that stops it
 *
 * @example
 * const started: string[] = [];
 * const machine = provideAgent((effect) => {
 *   started.push(effectKey(effect));
 *   return () => {};
 * });
 */
export function provideAgent(begin: (effect: Effect) => () => void): typeof agentMachine {
  const effect = <K extends EffectKind>(_kind: K) =>
    fromCallback<EventObject, EffectOf<K>>(({ input }) => begin(input as Effect));
  const delegation = delegationMachine.provide({
    actors: {
      runChild: effect("runChild"),
      cancelChild: effect("cancelChild"),
      dropChild: effect("dropChild"),
      startTimer: effect("startTimer"),
    },
  });
  return agentMachine.provide({
    actors: {
      assessIntent: effect("assessIntent"),
      askApproval: effect("askApproval"),
      callModel: effect("callModel"),
      planCalls: effect("planCalls"),
      summarise: effect("summarise"),
      trim: effect("trim"),
      compact: effect("compact"),
      callTool: effect("callTool"),
      batch: batchMachine.provide({ actors: { delegation } }),
      startTimer: effect("startTimer"),
      checkChildren: effect("checkChildren"),
      verify: effect("verify"),
      settle: effect("settle"),
    },
  });
}
