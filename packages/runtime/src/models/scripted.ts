import { type Clock, type ModelCallOptions, type ModelProvider, RunFailure, TroupeError } from "@troupe/core";
import type { Scenario } from "../scenarios/scenario.ts";
import { type ScenarioAnswer, type ScenarioQuestion, selectReply } from "../scenarios/select-reply.ts";

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
      const { depth = null, purpose = "turn", continued = false, agent, task, attempt, step } = origin;
      const question = { agent, task, attempt, depth, purpose, continued, step, messages, maxOutputTokens };
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
  await stream(answer, stage);
  if (answer.outcome.kind === "error") throw new RunFailure(answer.outcome.error);
  return answer.outcome.reply;
}

/** Each piece is due at its share of the latency, counted from the start, so that lateness does not add up. */
async function stream({ latencyMs, deltas }: ScenarioAnswer, { clock, signal, onDelta }: Performance): Promise<void> {
  const startedMs = clock.monotonicMs();
  const until = (share: number): Promise<void> =>
    wait(startedMs + latencyMs * share - clock.monotonicMs(), clock, signal);
  for (const [i, delta] of deltas.entries()) {
    await until((i + 1) / deltas.length);
    onDelta(delta);
  }
  await until(1);
}

async function wait(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  if (delayMs <= 0) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(delayMs, done);
    signal.addEventListener("abort", done, { once: true });
  });
  throwIfAborted(signal);
}

function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new RunFailure({ type: "cancelled", message: "the model call was cancelled", recoverable: false });
}

function unusable(error: unknown): RunFailure {
  const message = error instanceof Error ? error.message : String(error);
  const fix = TroupeError.is(error) && error.fix ? `; ${error.fix}` : "";
  return new RunFailure({ type: "params", message: message + fix, recoverable: false }, { cause: error });
}
