import { type Clock, type ModelCallOptions, type ModelProvider, RunFailure, TroupeError } from "@troupe/core";
import { cancelledCall, pauseFor, throwIfAborted } from "../wire/cancellation.ts";
import type { Scenario } from "./scenario.ts";
import { spoiledBy } from "./scripted-fault.ts";
import { type ScenarioAnswer, type ScenarioQuestion, selectReply } from "./select-reply.ts";

export interface ScriptedProviderOptions {
  /** Finds the scenario that a model id names: what follows `scripted/`. */
  load(name: string): Promise<Scenario>;
  clock: Clock;
}

const id = "scripted";

/**
 * A model that answers from a scenario, at the pace and for the price that the scenario sets. It needs no network.
 *
 * @example
 * const provider = createScriptedProvider({ load: createScenarioLoader(), clock: systemClock() });
 * await provider.call({ model: "scripted/demo", ...request }, { signal, onDelta });
 */
export function createScriptedProvider({ load, clock }: ScriptedProviderOptions): ModelProvider {
  const scenarioOf = (model: string): Promise<Scenario> => load(model.slice(id.length + 1));
  return {
    id,
    async call({ model, origin, messages, maxOutputTokens }, options) {
      throwIfAborted(options.signal);
      const scenario = await scenarioOf(model).catch((error) => {
        throw unusable(error);
      });
      const { depth = null, purpose = "turn", continued = false, triesBefore = 0, ...rest } = origin;
      const { agent, task, attempt, step } = rest;
      const place = { agent, task, attempt, depth, purpose, continued, step };
      const question = { ...place, messages, maxOutputTokens, triesBefore };
      return perform(scenario, question, { ...options, clock });
    },
    /** A scenario that cannot be loaded has no known price: calling it says why. */
    priceOf: (model) =>
      scenarioOf(model).then(
        ({ price }) => price,
        () => null,
      ),
  };
}

type Performance = ModelCallOptions & { clock: Clock };

async function perform(scenario: Scenario, question: ScenarioQuestion, stage: Performance) {
  const answer = selectReply(scenario, question);
  const { fault, deltas, outcome } = answer;
  if (fault?.delayMs !== undefined) await pauseFor(fault.delayMs, stage.clock, stage.signal);
  const spoiled = fault && spoiledBy(fault);
  await stream(answer, spoiled ? spoiled.pieces : deltas.length, stage);
  if (spoiled) throw spoiled.failure ?? (await cancellation(stage.signal));
  if (outcome.kind === "error") throw new RunFailure(outcome.error);
  return outcome.reply;
}

/**
 * Each piece is due at its share of the latency, counted from the start, so that lateness does not add up. All of the
 * answer takes all of the latency.
 */
async function stream({ latencyMs, deltas }: ScenarioAnswer, pieces: number, stage: Performance): Promise<void> {
  const { clock, signal, onDelta, onActivity } = stage;
  const startedMs = clock.monotonicMs();
  const until = (share: number): Promise<void> =>
    pauseFor(startedMs + latencyMs * share - clock.monotonicMs(), clock, signal);
  for (const [i, delta] of deltas.slice(0, pieces).entries()) {
    await until((i + 1) / deltas.length);
    onActivity?.();
    onDelta(delta);
  }
  if (pieces >= deltas.length) await until(1);
}

/** For whoever hears nothing more: only giving up ends it. */
function cancellation(signal: AbortSignal): Promise<RunFailure> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(cancelledCall());
    signal.addEventListener("abort", () => resolve(cancelledCall()), { once: true });
  });
}

function unusable(error: unknown): RunFailure {
  const message = error instanceof Error ? error.message : String(error);
  const fix = TroupeError.is(error) && error.fix ? `; ${error.fix}` : "";
  return new RunFailure({ type: "params", message: message + fix, recoverable: false }, { cause: error });
}
