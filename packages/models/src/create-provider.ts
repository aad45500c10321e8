import type { Clock, ModelProvider } from "@troupe/core";
import { createLazyProvider } from "./lazy-provider.ts";
import type { PriceTable } from "./prices.ts";
import type { ProviderSettings } from "./settings.ts";

export interface ProviderOptions {
  settings: ProviderSettings;
  prices: PriceTable;
  /** @default the machine's own */
  clock?: Clock;
}

/**
 * A provider that speaks whatever wire its settings name. The vendor's SDK is loaded when it is first asked: a command
 * that calls no model does without. It makes one request for a call: `createReliableProvider` goes around it.
 *
 * @example
 * const provider = createProvider({ settings, prices });
 * await provider.call({ model: "anthropic/claude-sonnet-5", ...request }, { signal, onDelta });
 */
export function createProvider(options: ProviderOptions): ModelProvider {
  const { settings, prices } = options;
  const { id, wire } = settings;
  const lazy = createLazyProvider(id, async () => {
    if (wire === "anthropic") return (await import("./anthropic/provider.ts")).createAnthropicProvider(options);
    return (await import("./openai/provider.ts")).createOpenAiProvider(options);
  });
  // What the table knows needs no SDK.
  return { ...lazy, priceOf: async (model) => prices.priceOf(model.slice(id.length + 1)) };
}
