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
import { delay, throwIfAborted } from "../wire/cancellation.ts";
import { type Attempt, createProviderHealth, type ModelHealth } from "./provider-health.ts";
import { createRateLimiter, type Permit, type RateLimiter } from "./rate-limiter.ts";
import {
  backoffMs,
  createRetryBudget,
  isRetryable,
  isTransient,
  type RetryBudget,
  triesMax,
  waitMsMax,
} from "./retry.ts";
import { withIdleTimeout } from "./watchdog.ts";

export interface ReliableOptions {
  /** The adapter of one provider with one key. It makes one request per call and never retries. */
  provider: ModelProvider;
  limits: ProviderLimits;
  clock: Clock;
  /** Returns a number from 0 to 1, as `Math.random` does. */
  random: () => number;
}

interface Layer extends ReliableOptions {
  limiter: RateLimiter;
  budget: RetryBudget;
  healthOf(model: string): ModelHealth;
}

/**
 * Adds rate limits, retries, a circuit breaker and an idle timeout to a provider. It is the only layer that retries, and
 * all agents of a host share it.
 *
 * It repeats only requests that the provider refused before any work, at most five requests for one call, and never
 * earlier than the provider asks. A call that would have to wait for more than half a minute fails instead. A call that
 * had begun may be charged, so it is never repeated here.
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
    healthOf: createProviderHealth(),
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
    const outcome = await tryOnce(layer, { ...request, origin: { ...request.origin, triesBefore: tries } }, options);
    if ("reply" in outcome) return failures.length === 0 ? outcome.reply : { ...outcome.reply, retries: failures };
    const { error, wasSent } = outcome;
    // A failure counts as one request, unless the adapter reports more.
    const failed = tries + (wasSent ? (error.tries ?? 1) : 0);
    const waitMs = backoffMs(Math.max(1, failed), error.retryAfterMs, layer.random);
    const mayRetry = wasSent && isRetryable(error) && failed < triesMax && waitMs <= waitMsMax;
    if (!mayRetry || !budget.take(clock.monotonicMs())) {
      throw new RunFailure({ ...error, tries: failed - triesBefore }, { cause: outcome.thrown });
    }
    failures.push({ error, waitedMs: waitMs });
    options.onRetry?.({ error, waitMs, tries: failed, triesMax });
    await delay(waitMs, clock, options.signal);
  }
}

/** `wasSent` is false when this layer refused the call before it made a request. */
type FailedTry = { error: RunError; thrown: unknown; wasSent: boolean };
type TryOutcome = { reply: ModelReply } | FailedTry;

/** Makes one request as soon as it may start. Throws only when the call was cancelled. */
async function tryOnce(layer: Layer, request: ModelRequest, options: ModelCallOptions): Promise<TryOutcome> {
  const admitted = await admit(layer, request, options.signal);
  if ("error" in admitted) return admitted;
  const { clock } = layer;
  const { permit, attempt } = admitted;
  try {
    const reply = await call(layer, request, options);
    attempt.answered(clock.monotonicMs());
    permit.release(reply.usage.inputTokens + reply.usage.outputTokens);
    return { reply };
  } catch (thrown) {
    const error = toRunError(thrown, "model");
    noteFailure(layer, request.model, error, attempt);
    permit.release(error.begun === false ? 0 : null);
    if (options.signal.aborted) throw thrown;
    return { error, thrown, wasSent: true };
  }
}

/** Waits for a pause that the provider asked for, then for the rate limiter. */
async function admit(
  layer: Layer,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<FailedTry | { permit: Permit; attempt: Attempt }> {
  const { clock, limiter, random, limits } = layer;
  const health = layer.healthOf(request.model);
  const tokens = limits.tokensPerMinute === null ? 0 : requestTokens(request);
  for (;;) {
    const refusal = health.refusal(request.model, clock.monotonicMs());
    if (refusal) return { error: refusal, thrown: null, wasSent: false };
    const pauseMs = health.pauseMs(clock.monotonicMs());
    // Jitter, so that the calls that wait for the same moment do not all start at once.
    if (pauseMs > 0) await delay(pauseMs + backoffMs(1, null, random), clock, signal);
    const permit = await limiter.enter(tokens, signal);
    const nowMs = clock.monotonicMs();
    // The call may have been cancelled, or a pause or refusal may have begun, while it waited in the queue.
    if (!signal.aborted && health.pauseMs(nowMs) === 0 && !health.refusal(request.model, nowMs)) {
      return { permit, attempt: health.breaker.begin(nowMs) };
    }
    permit.giveBack();
    throwIfAborted(signal);
  }
}

function call({ provider, clock, limits }: Layer, request: ModelRequest, options: ModelCallOptions) {
  const watch = { clock, idleTimeoutMs: limits.idleTimeoutMs, signal: options.signal, model: request.model };
  return withIdleTimeout(watch, (signal, alive) => {
    // Events of a call that was given up are dropped.
    const onEvent = (forward?: () => void): void => {
      if (signal.aborted) return;
      alive();
      forward?.();
    };
    return provider.call(request, {
      signal,
      onDelta: (text) => onEvent(() => options.onDelta(text)),
      onActivity: () => onEvent(options.onActivity),
      onProgress: (progress) => onEvent(() => options.onProgress?.(progress)),
    });
  });
}

/** Records a failure in the health of its model, for all later calls. */
function noteFailure({ clock, healthOf }: Layer, model: string, error: RunError, attempt: Attempt): void {
  const nowMs = clock.monotonicMs();
  if (error.type === "rate_limit" && error.recoverable && error.retryAfterMs !== null) {
    healthOf(model).pauseUntil(nowMs + error.retryAfterMs);
  }
  if (error.type === "cancelled") attempt.abandoned();
  else if (isTransient(error)) attempt.failed(nowMs, error.retryAfterMs);
  else attempt.answered(nowMs);
}

function requestTokens({ system, messages, tools }: ModelRequest): number {
  return estimateTokens(system + JSON.stringify(messages) + JSON.stringify(tools));
}
