import { type Clock, type ModelProvider, RunFailure, toRunError } from "@troupe/core";

/**
 * A provider whose rate limit holds for all who use it: once it has asked one call to wait, the others are turned away
 * here until that time is over, instead of each learning it by a call of its own. Whoever is turned away backs off and
 * asks again.
 *
 * @example
 * const models = createModelRouter([shareLimits({ provider, clock })]);
 */
export function shareLimits({ provider, clock }: { provider: ModelProvider; clock: Clock }): ModelProvider {
  let waitUntilMs = 0;
  return {
    id: provider.id,
    priceOf: (model) => provider.priceOf(model),
    async call(request, options) {
      const waitMs = waitUntilMs - clock.monotonicMs();
      if (waitMs > 0) throw turnedAway(provider.id, waitMs);
      try {
        return await provider.call(request, options);
      } catch (thrown) {
        const { type, retryAfterMs } = toRunError(thrown, "model");
        if (type === "rate_limit" && retryAfterMs !== null) {
          waitUntilMs = Math.max(waitUntilMs, clock.monotonicMs() + retryAfterMs);
        }
        throw thrown;
      }
    },
  };
}

function turnedAway(provider: string, waitMs: number): RunFailure {
  return new RunFailure({
    type: "rate_limit",
    message: `${provider} has asked to be left alone for another ${Math.ceil(waitMs)} ms`,
    recoverable: true,
    retryAfterMs: Math.ceil(waitMs),
  });
}
