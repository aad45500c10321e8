import { type ModelProvider, RunFailure, TroupeError } from "@troupe/core";
import { loadOnce, loadOptional } from "@troupe/core/internal";
import { callWithFallbacks, type Fallbacks, fallbackChain } from "./fallbacks.ts";
import { maxPrice } from "./prices/max-price.ts";
import type { ProviderOptions } from "./provider-options.ts";
import type { Wire } from "./settings.ts";

/** Several providers behind one `ModelProvider`. */
export interface ModelRouter extends ModelProvider {
  /** Ids of its providers, sorted. */
  readonly providers: readonly string[];
}

/**
 * Sends each call to the provider whose id is the part of the model id before the first slash. When that provider refuses
 * the call for good, the model's fallback answers. Prices and context windows are safe for every model of the chain.
 *
 * @example
 * const models = createModelRouter([anthropic, openai], { fallbacks: { "anthropic/claude-opus-4-5": "openai/gpt-5" } });
 * await models.call({ model: "anthropic/claude-opus-4-5", ...request }, options); // reply.model names the one that answered
 */
export function createModelRouter(
  providers: readonly ModelProvider[],
  { fallbacks = {} }: { fallbacks?: Fallbacks } = {},
): ModelRouter {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  if (byId.size < providers.length) {
    throw new TroupeError(
      "CONFLICT",
      `two model providers have the same id: ${providers.map(({ id }) => id).join(", ")}`,
    );
  }
  const ids = [...byId.keys()].sort();
  const providerOf = (model: string): ModelProvider | undefined =>
    model.includes("/") ? byId.get(model.split("/", 1)[0] ?? "") : undefined;
  const isServed = (model: string): boolean => {
    const provider = providerOf(model);
    return provider !== undefined && (provider.serves?.(model) ?? true);
  };
  for (const [model, fallback] of Object.entries(fallbacks)) {
    fallbackChain(model, fallbacks);
    if (!providerOf(fallback)) throw unknownFallback(model, fallback, ids);
  }
  return {
    id: "router",
    providers: ids,
    async call(request, options) {
      return await callWithFallbacks(fallbackChain(request.model, fallbacks), request, async (routed) => {
        const provider = providerOf(routed.model);
        if (!provider) throw unknownProvider(routed.model, ids);
        return await provider.call(routed, options);
      });
    },
    serves: (model) => fallbackChain(model, fallbacks).some(isServed),
    async priceOf(model) {
      const priceOfOne = async (each: string) => (await providerOf(each)?.priceOf(each)) ?? null;
      return maxPrice(await Promise.all(fallbackChain(model, fallbacks).map(priceOfOne)));
    },
    async contextOf(model) {
      // A failure counts as unknown: the call itself reports it, with a run that can show it.
      const contextOfOne = async (each: string) =>
        (await providerOf(each)
          ?.contextOf?.(each)
          .catch(() => null)) ?? null;
      const all = await Promise.all(fallbackChain(model, fallbacks).map(contextOfOne));
      const known = all.filter((tokens) => tokens !== null);
      return known.length > 0 ? Math.min(...known) : null;
    },
  };
}

function unknownProvider(model: string, ids: readonly string[]): RunFailure {
  return new RunFailure({
    type: "params",
    message: `no provider for the model ${JSON.stringify(model)}; model ids start with one of: ${prefixes(ids)}`,
    recoverable: false,
  });
}

function unknownFallback(model: string, fallback: string, ids: readonly string[]): TroupeError {
  return new TroupeError("INVALID_CONFIG", `the fallback of ${model} is ${fallback}, which belongs to no provider`, {
    fix: `use a model whose id starts with one of: ${prefixes(ids)}`,
  });
}

function prefixes(ids: readonly string[]): string {
  return ids.map((id) => `${id}/`).join(", ") || "(no provider is set up)";
}

/**
 * Creates the adapter for the API that the settings name. Its first call loads the vendor's SDK, and throws
 * `MISSING_PACKAGE` if that is not installed. It makes one request per call and never retries: wrap it in
 * `createReliableProvider`.
 *
 * @example
 * const provider = createProvider({ settings, prices });
 * await provider.call({ model: "anthropic/claude-sonnet-5", ...request }, { signal, onDelta });
 */
export function createProvider(options: ProviderOptions): ModelProvider {
  const { settings, prices } = options;
  const { id, wire } = settings;
  const adapter = loadOnce(async () => (await loadAdapter(wire))(options));
  return {
    id,
    call: async (request, callOptions) => (await adapter.load()).call(request, callOptions),
    // The price table needs no SDK.
    priceOf: async (model) => prices.priceOf(model.slice(id.length + 1)),
    contextOf: async (model) => (await (await adapter.load()).contextOf?.(model)) ?? null,
  };
}

/**
 * Checks that the vendor's SDK for an API is installed. Throws `MISSING_PACKAGE`, with the command that installs it.
 *
 * @example
 * await requireSdk("anthropic");
 */
export async function requireSdk(wire: Wire): Promise<void> {
  await loadAdapter(wire);
}

/** Loads the adapter for an API, and with it the vendor's SDK. */
async function loadAdapter(wire: Wire): Promise<(options: ProviderOptions) => ModelProvider> {
  return wire === "anthropic"
    ? (await loadOptional("@anthropic-ai/sdk@1", () => import("./anthropic/provider.ts"))).createAnthropicProvider
    : (await loadOptional("openai@7", () => import("./openai/provider.ts"))).createOpenAiProvider;
}
