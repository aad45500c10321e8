import { type ModelProvider, RunFailure, TroupeError } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";
import { askInTurn, chainOf, type Fallbacks } from "./fallbacks.ts";
import { maxPrice } from "./prices/max-price.ts";

/** Several providers that answer as one. */
export interface ModelRouter extends ModelProvider {
  /** Ids of the providers it routes to, sorted. */
  readonly providers: readonly string[];
}

/**
 * Sends each call to the provider that the model's id names before its first slash; and to its fallback, where there is
 * one, when it is turned away for good. What is set aside for a model is enough for whoever may answer in its place.
 *
 * @example
 * const models = createModelRouter([anthropic, openai], { fallbacks: { "anthropic/claude-opus-4-5": "openai/gpt-5" } });
 * await models.call({ model: "anthropic/claude-opus-4-5", ...request }, options); // reply.model says who answered
 */
export function createModelRouter(
  providers: readonly ModelProvider[],
  { fallbacks = {} }: { fallbacks?: Fallbacks } = {},
): ModelRouter {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  if (byId.size < providers.length) {
    throw new TroupeError("CONFLICT", `two model providers have one id: ${providers.map(({ id }) => id).join(", ")}`);
  }
  const ids = [...byId.keys()].sort();
  const providerOf = (model: string): ModelProvider | undefined =>
    model.includes("/") ? byId.get(model.split("/", 1)[0] ?? "") : undefined;
  const answers = (model: string): boolean => {
    const provider = providerOf(model);
    return provider !== undefined && (provider.serves?.(model) ?? true);
  };
  for (const [model, fallback] of Object.entries(fallbacks)) {
    chainOf(model, fallbacks);
    if (!providerOf(fallback)) throw unknownFallback(model, fallback, ids);
  }
  return {
    id: "router",
    providers: ids,
    async call(request, options) {
      return await askInTurn(chainOf(request.model, fallbacks), request, async (asked) => {
        const provider = providerOf(asked.model);
        if (!provider) throw unknownProvider(asked.model, ids);
        return await provider.call(asked, options);
      });
    },
    serves: (model) => chainOf(model, fallbacks).some(answers),
    async priceOf(model) {
      const ask = async (each: string) => (await providerOf(each)?.priceOf(each)) ?? null;
      return dearestOf(await Promise.all(chainOf(model, fallbacks).map(ask)));
    },
    async contextOf(model) {
      // Whoever cannot be asked says why when it is called; a run that is not even opened could not tell anybody.
      const ask = async (each: string) =>
        (await providerOf(each)
          ?.contextOf?.(each)
          .catch(() => null)) ?? null;
      const known = (await Promise.all(chainOf(model, fallbacks).map(ask))).filter((tokens) => tokens !== null);
      return known.length > 0 ? Math.min(...known) : null;
    },
  };
}

/** Null where one of them is unknown: whoever answers may be that one. */
function dearestOf(prices: readonly (ModelPrice | null)[]): ModelPrice | null {
  return prices.reduce((dearest, price) => dearest && price && maxPrice(dearest, price));
}

function unknownProvider(model: string, ids: readonly string[]): RunFailure {
  return new RunFailure({
    type: "params",
    message: `no provider for the model ${JSON.stringify(model)}; ids start with one of: ${ids.map((id) => `${id}/`).join(", ") || "(no provider is set up)"}`,
    recoverable: false,
  });
}

function unknownFallback(model: string, fallback: string, ids: readonly string[]): TroupeError {
  const known = ids.map((id) => `${id}/`).join(", ");
  return new TroupeError("INVALID_CONFIG", `the fallback of ${model} is ${fallback}, which no provider answers for`, {
    fix: `name a model that begins with one of: ${known || "(no provider is set up)"}`,
  });
}
