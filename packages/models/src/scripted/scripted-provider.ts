import { type Clock, type ModelCallOptions, type ModelProvider, RunFailure, TroupeError } from "@troupe/core";
import { cancelledCall, delay, throwIfAborted } from "../wire/cancellation.ts";
import { failureOf, type VendorFailure } from "../wire/failure.ts";
import type { Fault, Scenario } from "./scenario.ts";
import { type ScenarioAnswer, type ScenarioQuestion, selectReply } from "./select-reply.ts";

export interface ScriptedProviderOptions {
  /** Loads the scenario of a model id, by the part after `scripted/`. */
  load(name: string): Promise<Scenario>;
  clock: Clock;
}

const id = "scripted";

/**
 * A model that answers from a scenario, at the scenario's pace and price. It needs no network.
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
        throw unusableScenario(error);
      });
      const { depth = null, purpose = "turn", continued = false, triesBefore = 0, ...rest } = origin;
      const { agent, task, attempt, step } = rest;
      const position = { agent, task, attempt, depth, purpose, continued, step };
      const question = { ...position, messages, maxOutputTokens, triesBefore };
      return play(scenario, question, { ...options, clock });
    },
    /** Null for a scenario that cannot be loaded: its call fails with the reason. */
    priceOf: (model) =>
      scenarioOf(model).then(
        ({ price }) => price,
        () => null,
      ),
  };
}

type PlayOptions = ModelCallOptions & { clock: Clock };

async function play(scenario: Scenario, question: ScenarioQuestion, options: PlayOptions) {
  const answer = selectReply(scenario, question);
  const { fault, deltas, outcome } = answer;
  if (fault?.delayMs !== undefined) await delay(fault.delayMs, options.clock, options.signal);
  const broken = fault && brokenBy(fault);
  await stream(answer, broken ? broken.pieces : deltas.length, options);
  if (broken) throw broken.failure ?? (await cancellation(options.signal));
  if (outcome.kind === "error") throw new RunFailure(outcome.error);
  return outcome.reply;
}

/**
 * Streams the first pieces of an answer. Each piece is due at its share of the latency, counted from the start, so that
 * delays do not add up. A complete answer takes the whole latency.
 */
async function stream({ latencyMs, deltas }: ScenarioAnswer, pieces: number, options: PlayOptions): Promise<void> {
  const { clock, signal, onDelta, onActivity, onProgress } = options;
  let outputCharacters = 0;
  const startedMs = clock.monotonicMs();
  const until = (share: number): Promise<void> =>
    delay(startedMs + latencyMs * share - clock.monotonicMs(), clock, signal);
  for (const [i, delta] of deltas.slice(0, pieces).entries()) {
    await until((i + 1) / deltas.length);
    onActivity?.();
    onDelta(delta);
    outputCharacters += delta.length;
    onProgress?.({ usage: null, outputCharacters });
  }
  if (pieces >= deltas.length) await until(1);
}

/** Resolves when the caller gives up: nothing else ends a silent connection. */
function cancellation(signal: AbortSignal): Promise<RunFailure> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(cancelledCall());
    signal.addEventListener("abort", () => resolve(cancelledCall()), { once: true });
  });
}

function unusableScenario(error: unknown): RunFailure {
  const message = error instanceof Error ? error.message : String(error);
  const fix = TroupeError.is(error) && error.fix ? `; ${error.fix}` : "";
  return new RunFailure({ type: "params", message: message + fix, recoverable: false }, { cause: error });
}

/** An answer that a fault breaks: this many pieces are streamed, then it fails, or falls silent when `failure` is null. */
interface BrokenAnswer {
  pieces: number;
  failure: RunFailure | null;
}

/** The failure that a real adapter would report for a fault; null for a fault that only delays. */
function brokenBy(fault: Fault): BrokenAnswer | null {
  const { status, stall, cut, halfOpen, streamError, notWhatItSays } = fault;
  if (status !== undefined) {
    const { code = null, message = "the scenario refuses this request", retryAfterMs = null } = fault;
    return { pieces: 0, failure: scriptedFailure({ status, code, message, retryAfterMs, begun: false }) };
  }
  const silent = stall ?? halfOpen;
  if (silent) return { pieces: silent.afterPieces, failure: null };
  if (cut) {
    const message = "the connection was lost before the answer ended";
    return { pieces: cut.afterPieces, failure: scriptedFailure({ message, begun: true }) };
  }
  if (streamError) {
    const { afterPieces, type: code = null, message = "the scenario breaks this answer off" } = streamError;
    return {
      pieces: afterPieces,
      failure: scriptedFailure({ status: streamError.status, code, message, begun: true }),
    };
  }
  if (notWhatItSays) {
    const message = `the response is ${notWhatItSays}, not a model's answer`;
    return { pieces: 0, failure: scriptedFailure({ status: 200, message, begun: true }) };
  }
  return null;
}

function scriptedFailure(failure: Pick<VendorFailure, "message" | "begun"> & Partial<VendorFailure>): RunFailure {
  return failureOf({ provider: id, status: null, code: null, retryAfterMs: null, keyFix: null, ...failure });
}
