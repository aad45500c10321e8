import type { RunError } from "@troupe/core";
import { waitMsMax } from "./backoff.ts";
import { type Breaker, createBreaker } from "./circuit-breaker.ts";

/** How a model stands with all who use it: what one of them has learnt, the others need not find out. */
export interface ProviderHealth {
  breaker: Breaker;
  /** It wants to hear nothing until then. A shorter time does not shorten a longer one. */
  keepQuiet(untilMs: number): void;
  quietMs(nowMs: number): number;
  /** Why a call is not even to wait for its turn; null when it may. */
  refusal(model: string, nowMs: number): RunError | null;
}

/** One standing for each model that is asked for: limits and outages are a model's, not its provider's. */
export function createProviderHealth(): (model: string) => ProviderHealth {
  const standings = new Map<string, ProviderHealth>();
  return (model) => {
    const known = standings.get(model) ?? createStanding();
    standings.set(model, known);
    return known;
  };
}

function createStanding(): ProviderHealth {
  const breaker = createBreaker();
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  const quietMs = (nowMs: number): number => Math.max(0, quietUntilMs - nowMs);
  return {
    breaker,
    quietMs,
    keepQuiet(untilMs) {
      quietUntilMs = Math.max(quietUntilMs, untilMs);
    },
    refusal(model, nowMs) {
      const refusedUntilMs = breaker.refusedUntilMs(nowMs);
      if (refusedUntilMs !== null) {
        const waitMs = Math.max(refusedUntilMs - nowMs, quietMs(nowMs));
        return turnedAway(
          waitMs,
          `${model} has failed again and again: it is not asked for another ${seconds(waitMs)}`,
        );
      }
      if (quietMs(nowMs) <= waitMsMax) return null;
      return turnedAway(quietMs(nowMs), `${model} has asked to be left alone for another ${seconds(quietMs(nowMs))}`);
    },
  };
}

function turnedAway(waitMs: number, message: string): RunError {
  const retryAfterMs = Math.ceil(waitMs);
  return { type: "rate_limit", message, tool: null, recoverable: true, retryAfterMs, begun: false };
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1_000)} s`;
}
