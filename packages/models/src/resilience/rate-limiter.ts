import type { Clock } from "@troupe/core";
import type { ProviderLimits } from "../settings.ts";
import { cancelledCall, throwIfAborted } from "../wire/cancellation.ts";
import { type Bucket, createBucket } from "./token-bucket.ts";

/** Where all agents of a host queue for one provider: first come, first served. */
export interface RateLimiter {
  /** Resolves when a request with so many tokens may be made; ends at once, as a cancelled call, with the signal. */
  enter(tokens: number, signal: AbortSignal): Promise<Pass>;
}

/** The right to one request. Whoever has it gives it back once. */
export interface Pass {
  /** @param usedTokens what the request really took; null when nobody knows */
  leave(usedTokens: number | null): void;
  /** The request was not made after all. */
  giveBack(): void;
}

interface Waiting {
  tokens: number;
  pass(): void;
}

/** Counts requests, tokens and calls under way against a provider's limits; keeps at most one timer. */
export function createRateLimiter(limits: ProviderLimits, clock: Clock): RateLimiter {
  const requests = bucketOf(limits.requestsPerMinute, clock);
  const tokensBucket = bucketOf(limits.tokensPerMinute, clock);
  const placesMax = limits.concurrency ?? Number.POSITIVE_INFINITY;
  const queue: Waiting[] = [];
  let placesTaken = 0;
  let stopTimer = (): void => {};

  const letIn = (): void => {
    stopTimer();
    for (let next = queue[0]; next && placesTaken < placesMax; next = queue[0]) {
      const nowMs = clock.monotonicMs();
      const waitMs = Math.max(requests?.waitMs(1, nowMs) ?? 0, tokensBucket?.waitMs(next.tokens, nowMs) ?? 0);
      if (waitMs > 0) {
        stopTimer = clock.after(waitMs, letIn);
        return;
      }
      queue.shift();
      placesTaken += 1;
      requests?.take(1, nowMs);
      tokensBucket?.take(next.tokens, nowMs);
      next.pass();
    }
  };

  const passFor = (tokens: number): Pass => {
    const free = (unusedTokens: number, unusedRequests: number): void => {
      const nowMs = clock.monotonicMs();
      placesTaken -= 1;
      tokensBucket?.giveBack(unusedTokens, nowMs);
      if (unusedRequests > 0) requests?.giveBack(unusedRequests, nowMs);
      letIn();
    };
    return {
      leave: (usedTokens) => free(usedTokens === null ? 0 : tokens - usedTokens, 0),
      giveBack: () => free(tokens, 1),
    };
  };

  return {
    async enter(tokens, signal) {
      throwIfAborted(signal);
      await new Promise<void>((resolve, reject) => {
        const leaveQueue = (): void => {
          queue.splice(queue.indexOf(waiting), 1);
          reject(cancelledCall());
          letIn();
        };
        const waiting: Waiting = {
          tokens,
          pass() {
            signal.removeEventListener("abort", leaveQueue);
            resolve();
          },
        };
        signal.addEventListener("abort", leaveQueue, { once: true });
        queue.push(waiting);
        if (queue.length === 1) letIn();
      });
      return passFor(tokens);
    },
  };
}

function bucketOf(perMinute: number | null, clock: Clock): Bucket | null {
  return perMinute === null ? null : createBucket(perMinute, clock.monotonicMs());
}
