import type { Clock, Usage } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";
import type { KnownModel } from "../settings.ts";
import { bundledContext, bundledCost, bundledPrice } from "./bundled-prices.ts";

/** Prices and context windows of a provider's models, by the model's name without the provider's id. */
export interface PriceTable {
  /** The highest price that a call can have, for its reservation; null when unknown. */
  priceOf(model: string): ModelPrice | null;
  /** The cost of a call; null when unknown, never 0 for an unknown cost. */
  costOf(model: string, usage: Omit<Usage, "costUsd">): number | null;
  /** The model's context window in tokens, output included; null when unknown. */
  contextOf(model: string): number | null;
}

export interface PriceTableOptions {
  /** Id of the provider. Of an unknown provider the table knows only the overrides. */
  provider: string;
  /** The user's own figures. They win over the bundled list. */
  overrides?: Readonly<Record<string, KnownModel>>;
  /** A local server costs nothing, and its context windows are not in the bundled list. @default false */
  isLocal?: boolean;
  /** Prices depend on the date, some on the hour. */
  clock: Clock;
}

/**
 * Creates the price table of a provider from the user's overrides and the bundled list. It works offline and never
 * throws.
 *
 * @example
 * const prices = createPriceTable({ provider: "anthropic", clock: systemClock() });
 * prices.costOf("claude-sonnet-4-5", { inputTokens: 1_000, outputTokens: 100, cachedTokens: 0 }); // 0.0045
 */
export function createPriceTable({ provider, overrides = {}, isLocal = false, clock }: PriceTableOptions): PriceTable {
  const overrideOf = (model: string): KnownModel => (Object.hasOwn(overrides, model) ? (overrides[model] ?? {}) : {});
  return {
    priceOf: (model) => overrideOf(model).price ?? (isLocal ? freePrice : bundledPrice(provider, model, clock.now())),
    costOf(model, usage) {
      const { price } = overrideOf(model);
      if (price) return costAt(price, usage);
      return isLocal ? 0 : bundledCost(provider, model, usage, clock.now());
    },
    contextOf: (model) =>
      overrideOf(model).contextTokens ?? (isLocal ? null : bundledContext(provider, model, clock.now())),
  };
}

/** Price of the models of a local server. */
export const freePrice: ModelPrice = { inputPerMillion: 0, outputPerMillion: 0 };
const million = 1_000_000;

/** Cached tokens are part of the input tokens and counted once. */
function costAt(price: ModelPrice, usage: Omit<Usage, "costUsd">): number {
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion, cacheWritePerMillion } = price;
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0 } = usage;
  const fresh = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);
  const input =
    fresh * inputPerMillion +
    cachedTokens * (cachedInputPerMillion ?? inputPerMillion) +
    cacheWriteTokens * (cacheWritePerMillion ?? inputPerMillion);
  return (input + outputTokens * outputPerMillion) / million;
}
