import type { Clock, ModelProvider } from "@troupe/core";
import { createLazyProvider } from "./lazy-provider.ts";
import type { PriceTable } from "./prices.ts";
import type { ProviderSettings } from "./settings.ts";

export interface AdapterOptions {
  settings: ProviderSettings;
  prices: PriceTable;
  clock: Clock;
}

/**
 * The adapter of a provider's wire. The vendor's library is large: it is loaded at the first call. It retries nothing:
 * `createReliableProvider` goes around it.
 *
 * @example
 * const provider = createProvider({ settings: presetSettings("anthropic"), prices, clock: systemClock() });
 */
export function createProvider(options: AdapterOptions): ModelProvider {
  const { settings, prices } = options;
  const lazy = createLazyProvider(settings.id, () => load(options));
  const nameOf = (model: string): string => model.slice(settings.id.length + 1);
  // What the table knows needs no library.
  return { ...lazy, priceOf: async (model) => prices.priceOf(nameOf(model)) };
}

async function load({ settings, prices, clock }: AdapterOptions): Promise<ModelProvider> {
  if (settings.wire === "anthropic") {
    return (await import("./anthropic/provider.ts")).createAnthropicProvider({ settings, prices, clock });
  }
  return (await import("./openai/provider.ts")).createOpenAiProvider({ settings, prices, clock });
}
