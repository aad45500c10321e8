import {
  type Clock,
  type ModelCallOptions,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  type RunError,
  RunFailure,
} from "@troupe/core";
import { createSimulatedClock, type SimulatedClock } from "@troupe/core/memory";
import { ProviderLimits } from "../settings.ts";
import { createReliableProvider } from "./reliable-provider.ts";

/** A simulated clock that counts its pending timers. */
export interface TestClock extends SimulatedClock {
  readonly timers: number;
}

export function createTestClock(): TestClock {
  const clock = createSimulatedClock();
  const pending = new Set<object>();
  return {
    ...clock,
    get timers() {
      return pending.size;
    },
    after(delayMs, callback) {
      const timer = {};
      pending.add(timer);
      const cancel = clock.after(delayMs, () => {
        pending.delete(timer);
        callback();
      });
      return () => {
        pending.delete(timer);
        cancel();
      };
    },
  };
}

/** Advances time in small steps and lets pending callbacks run after each. */
export async function pass(clock: SimulatedClock, ms: number, stepMs = 50): Promise<void> {
  await new Promise(setImmediate);
  for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
    clock.advance(Math.min(stepMs, ms - passedMs));
    await new Promise(setImmediate);
  }
}

/** Behaviour of a provider for one request. */
export type Behaviour = (
  request: ModelRequest,
  options: ModelCallOptions,
  count: number,
) => Promise<ModelReply | undefined>;

export function failure(error: Partial<RunError> & Pick<RunError, "type">): RunFailure {
  return new RunFailure({ message: "slow down", recoverable: true, begun: false, ...error });
}

export const limited = (retryAfterMs: number | null = null): RunFailure =>
  failure({ type: "rate_limit", retryAfterMs });

export function replyOf(model: string, tokens = 2): ModelReply {
  const usage = { inputTokens: tokens, outputTokens: 0, cachedTokens: 0, costUsd: 0 };
  return { text: "ok", calls: [], usage, stopReason: "end", model };
}

export const request: ModelRequest = {
  model: "busy/m",
  system: "",
  messages: [],
  tools: [],
  maxOutputTokens: 10,
  temperature: null,
  origin: { session: "s", run: "r", agent: "main", task: "go", attempt: 1, step: 1 },
};

/** A provider inside the reliability layer, with the time of each request. */
export function reliable(behave: Behaviour, limits: Partial<ProviderLimits> = {}, random: () => number = () => 1) {
  const clock = createTestClock();
  const asked: { atMs: number; request: ModelRequest }[] = [];
  const provider: ModelProvider = {
    id: "busy",
    priceOf: async () => null,
    async call(asking, options) {
      asked.push({ atMs: clock.monotonicMs(), request: asking });
      return (await behave(asking, options, asked.length)) ?? replyOf(asking.model);
    },
  };
  const layer = createReliableProvider({ provider, limits: ProviderLimits.parse(limits), clock, random });
  const call = (changes: Partial<ModelRequest> = {}, options: Partial<ModelCallOptions> = {}) => {
    const abort = new AbortController();
    const reply = layer.call({ ...request, ...changes }, { signal: abort.signal, onDelta: () => {}, ...options });
    reply.catch(() => {});
    return { reply, abort };
  };
  return {
    clock,
    asked,
    layer,
    call,
    askedAtMs: () => asked.map(({ atMs }) => atMs),
    pass: (ms: number) => pass(clock, ms),
  };
}

/** Fails with each of these in turn, then answers. */
export function failing(...failures: RunFailure[]): Behaviour {
  const left = [...failures];
  return async () => {
    const next = left.shift();
    if (next) throw next;
  };
}

/** Resolves after a delay by the clock; rejects on abort. */
export function after(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(delayMs, resolve);
    signal.addEventListener("abort", () => {
      cancel();
      reject(signal.reason);
    });
  });
}
