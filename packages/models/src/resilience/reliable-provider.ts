import {
  type Clock,
  type ModelCallOptions,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  type RunError,
  RunFailure,
} from "@troupe/core";
import { estimateTokens, toRunError } from "@troupe/core/internal";
import type { ProviderLimits } from "../settings.ts";
import { pauseFor, throwIfAborted } from "../wire/cancellation.ts";
import { backoffMs, triesMax, waitMsMax } from "./backoff.ts";
import type { Trial } from "./circuit-breaker.ts";
import { createProviderHealth, type ProviderHealth } from "./provider-health.ts";
import { createRateLimiter, type Pass, type RateLimiter } from "./rate-limiter.ts";
import { createRetryBudget, type RetryBudget } from "./retry.ts";
import { isRetryable, mayPass } from "./retryable.ts";
import { watched } from "./watchdog.ts";

export interface ReliableOptions {
  /** One provider with one key: its adapter makes one request per call, and retries nothing itself. */
  provider: ModelProvider;
  limits: ProviderLimits;
  clock: Clock;
  /** From 0 to 1, as `Math.random`. */
  random: () => number;
}

interface Layer extends ReliableOptions {
  limiter: RateLimiter;
  budget: RetryBudget;
  standingOf(model: string): ProviderHealth;
}

/**
 * The one retry layer, shared by all agents of a host. Requests that were turned away are made again here, at most five
 * for one call, as late as the provider asks for; whoever would have to wait for longer than half a minute is told so.
 * A call that had begun may have been paid for: it is never repeated here, and never waited for in silence.
 *
 * @example
 * const limits = ProviderLimits.parse({ concurrency: 8, requestsPerMinute: 50 });
 * const models = createModelRouter([createReliableProvider({ provider, limits, clock, random: Math.random })]);
 */
export function createReliableProvider(options: ReliableOptions): ModelProvider {
  const { provider, limits, clock } = options;
  const layer: Layer = {
    ...options,
    limiter: createRateLimiter(limits, clock),
    budget: createRetryBudget(),
    standingOf: createProviderHealth(),
  };
  return {
    id: provider.id,
    call: (request, callOptions) => callReliably(layer, request, callOptions),
    priceOf: (model) => provider.priceOf(model),
    contextOf: async (model) => (await provider.contextOf?.(model)) ?? null,
  };
}

async function callReliably(layer: Layer, request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
  const { clock, budget } = layer;
  const { triesBefore = 0 } = request.origin;
  const failures: NonNullable<ModelReply["retries"]> = [];
  if (triesBefore > 0) budget.noteRetry(clock.monotonicMs());
  else budget.noteCall(clock.monotonicMs());
  for (;;) {
    const tries = triesBefore + failures.length;
    const outcome = await ask(layer, { ...request, origin: { ...request.origin, triesBefore: tries } }, options);
    if ("reply" in outcome) return failures.length === 0 ? outcome.reply : { ...outcome.reply, retries: failures };
    const { error, wasAsked } = outcome;
    // One request, unless the adapter says that it was more.
    const failed = tries + (wasAsked ? (error.tries ?? 1) : 0);
    const waitMs = backoffMs(Math.max(1, failed), error.retryAfterMs, layer.random);
    const mayRetry = wasAsked && isRetryable(error) && failed < triesMax && waitMs <= waitMsMax;
    if (!mayRetry || !budget.take(clock.monotonicMs())) {
      throw new RunFailure({ ...error, tries: failed - triesBefore }, { cause: outcome.thrown });
    }
    failures.push({ error, waitedMs: waitMs });
    options.onRetry?.({ error, waitMs, tries: failed, triesMax });
    await pauseFor(waitMs, clock, options.signal);
  }
}

/** `wasAsked`: a request was made, and failed; else the call was refused before there was one. */
type Failed = { error: RunError; thrown: unknown; wasAsked: boolean };
type Outcome = { reply: ModelReply } | Failed;

/** One request, once it may be made. Throws only when the call was cancelled. */
async function ask(layer: Layer, request: ModelRequest, options: ModelCallOptions): Promise<Outcome> {
  const admitted = await admit(layer, request, options.signal);
  if ("error" in admitted) return admitted;
  const { clock } = layer;
  const { pass, trial } = admitted;
  try {
    const reply = await call(layer, request, options);
    trial.answered(clock.monotonicMs());
    pass.leave(reply.usage.inputTokens + reply.usage.outputTokens);
    return { reply };
  } catch (thrown) {
    const error = toRunError(thrown, "model");
    judge(layer, request.model, error, trial);
    pass.leave(error.begun === false ? 0 : null);
    if (options.signal.aborted) throw thrown;
    return { error, thrown, wasAsked: true };
  }
}

/** Waits for a turn to ask, and for the time until which the provider wants to hear nothing. */
async function admit(
  layer: Layer,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Failed | { pass: Pass; trial: Trial }> {
  const { clock, limiter, random, limits } = layer;
  const standing = layer.standingOf(request.model);
  const tokens = limits.tokensPerMinute === null ? 0 : requestTokens(request);
  for (;;) {
    const refusal = standing.refusal(request.model, clock.monotonicMs());
    if (refusal) return { error: refusal, thrown: null, wasAsked: false };
    const quietMs = standing.quietMs(clock.monotonicMs());
    // All who wait for the same moment are to come one after another.
    if (quietMs > 0) await pauseFor(quietMs + backoffMs(1, null, random), clock, signal);
    const pass = await limiter.enter(tokens, signal);
    const nowMs = clock.monotonicMs();
    // Things may have changed while it queued.
    const isStillWanted = !signal.aborted;
    if (isStillWanted && standing.quietMs(nowMs) === 0 && !standing.refusal(request.model, nowMs)) {
      return { pass, trial: standing.breaker.begin(nowMs) };
    }
    pass.giveBack();
    throwIfAborted(signal);
  }
}

function call({ provider, clock, limits }: Layer, request: ModelRequest, options: ModelCallOptions) {
  const watch = { clock, idleTimeoutMs: limits.idleTimeoutMs, signal: options.signal, model: request.model };
  return watched(watch, (signal, alive) => {
    // What a call says that was given up is not to be heard.
    const heard = (tell?: () => void): void => {
      if (signal.aborted) return;
      alive();
      tell?.();
    };
    return provider.call(request, {
      signal,
      onDelta: (text) => heard(() => options.onDelta(text)),
      onActivity: () => heard(options.onActivity),
    });
  });
}

/** What a failure says of the model, for everybody who wants to ask it. */
function judge({ clock, standingOf }: Layer, model: string, error: RunError, trial: Trial): void {
  const nowMs = clock.monotonicMs();
  const standing = standingOf(model);
  if (error.type === "rate_limit" && error.recoverable && error.retryAfterMs !== null) {
    standing.keepQuiet(nowMs + error.retryAfterMs);
  }
  if (error.type === "cancelled") trial.abandoned();
  else if (mayPass(error)) trial.failed(nowMs, error.retryAfterMs);
  else trial.answered(nowMs);
}

function requestTokens({ system, messages, tools }: ModelRequest): number {
  return estimateTokens(system + JSON.stringify(messages) + JSON.stringify(tools));
}
