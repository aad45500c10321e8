import type { Clock } from "@troupe/core";
import type { ProviderLimits } from "../settings.ts";
import { cancelledCall, throwIfAborted } from "../wire/cancellation.ts";

/** First-in-first-out queue in which all agents of a host wait for one provider. */
export interface RateLimiter {
  /** Resolves when a request of this many tokens may start. An abort rejects it as a cancelled call. */
  enter(tokens: number, signal: AbortSignal): Promise<Permit>;
}

/** Permission for one request. Its holder calls one of the two methods, once. */
export interface Permit {
  /**
   * Ends the request.
   *
   * @param usedTokens tokens that the request used; null when unknown
   */
  release(usedTokens: number | null): void;
  /** Gives everything back: the request was not made. */
  giveBack(): void;
}

interface Waiter {
  tokens: number;
  admit(): void;
}

/** Counts requests, tokens and running calls against a provider's limits; keeps at most one timer. */
export function createRateLimiter(limits: ProviderLimits, clock: Clock): RateLimiter {
  const requests = bucketOf(limits.requestsPerMinute, clock);
  const tokensBucket = bucketOf(limits.tokensPerMinute, clock);
  const runningMax = limits.concurrency ?? Number.POSITIVE_INFINITY;
  const queue: Waiter[] = [];
  let running = 0;
  let stopTimer = (): void => {};

  const admitWaiters = (): void => {
    stopTimer();
    for (let next = queue[0]; next && running < runningMax; next = queue[0]) {
      const nowMs = clock.monotonicMs();
      const waitMs = Math.max(requests?.waitMs(1, nowMs) ?? 0, tokensBucket?.waitMs(next.tokens, nowMs) ?? 0);
      if (waitMs > 0) {
        stopTimer = clock.after(waitMs, admitWaiters);
        return;
      }
      queue.shift();
      running += 1;
      requests?.take(1, nowMs);
      tokensBucket?.take(next.tokens, nowMs);
      next.admit();
    }
  };

  const permitFor = (tokens: number): Permit => {
    const free = (unusedTokens: number, unusedRequests: number): void => {
      const nowMs = clock.monotonicMs();
      running -= 1;
      tokensBucket?.giveBack(unusedTokens, nowMs);
      if (unusedRequests > 0) requests?.giveBack(unusedRequests, nowMs);
      admitWaiters();
    };
    return {
      release: (usedTokens) => free(usedTokens === null ? 0 : tokens - usedTokens, 0),
      giveBack: () => free(tokens, 1),
    };
  };

  return {
    async enter(tokens, signal) {
      throwIfAborted(signal);
      await new Promise<void>((resolve, reject) => {
        const leaveQueue = (): void => {
          queue.splice(queue.indexOf(waiter), 1);
          reject(cancelledCall());
          admitWaiters();
        };
        const waiter: Waiter = {
          tokens,
          admit() {
            signal.removeEventListener("abort", leaveQueue);
            resolve();
          },
        };
        signal.addEventListener("abort", leaveQueue, { once: true });
        queue.push(waiter);
        if (queue.length === 1) admitWaiters();
      });
      return permitFor(tokens);
    },
  };
}

function bucketOf(perMinute: number | null, clock: Clock): TokenBucket | null {
  return perMinute === null ? null : createTokenBucket(perMinute, clock.monotonicMs());
}

/**
 * A token bucket: an allowance per minute that refills steadily and saves up a little for a burst. A request larger than
 * the whole bucket passes when the bucket is full; later requests wait until the debt is paid.
 */
export interface TokenBucket {
  /** Time until this amount may be taken; 0 when it may be taken now. */
  waitMs(amount: number, nowMs: number): number;
  take(amount: number, nowMs: number): void;
  /** Returns an unused amount. A negative amount takes more. */
  giveBack(amount: number, nowMs: number): void;
}

const minuteMs = 60_000;
/** Refill time of an empty bucket. A larger bucket would allow up to twice the limit in the first minute. */
export const burstMs = 6_000;

/**
 * @example
 * const bucket = createTokenBucket(600, 0); // 60 at once, then 10 a second
 * bucket.take(60, 0);
 * bucket.waitMs(1, 0); // 100
 */
export function createTokenBucket(perMinute: number, startMs: number): TokenBucket {
  const perMs = perMinute / minuteMs;
  const capacity = Math.max(1, perMs * burstMs);
  let level = capacity;
  let filledMs = startMs;

  const fill = (nowMs: number): void => {
    level = Math.min(capacity, level + Math.max(0, nowMs - filledMs) * perMs);
    filledMs = Math.max(filledMs, nowMs);
  };
  return {
    waitMs(amount, nowMs) {
      fill(nowMs);
      return Math.max(0, Math.ceil((Math.min(amount, capacity) - level) / perMs));
    },
    take(amount, nowMs) {
      fill(nowMs);
      level -= amount;
    },
    giveBack(amount, nowMs) {
      fill(nowMs);
      level = Math.min(capacity, level + amount);
    },
  };
}
