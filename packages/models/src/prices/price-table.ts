import type { Clock, Usage } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";
import type { PriceTable } from "../prices.ts";
import type { KnownModel } from "../settings.ts";
import { bundledContext, bundledCost, bundledPrice } from "./bundled-prices.ts";

export interface PriceTableOptions {
  /** The provider's id; of one that nobody has heard of only what is overridden is known. */
  provider: string;
  /** What its user says of its models wins. */
  overrides?: Readonly<Record<string, KnownModel>>;
  /** Nothing is paid for a server of one's own, and only its owner knows its models' windows. @default false */
  isLocal?: boolean;
  /** Prices change with the date, and some with the hour. */
  clock: Clock;
}

/**
 * What a provider's models cost: as its user says, else by the bundled list. Offline; never throws.
 *
 * @example
 * const prices = createPriceTable({ provider: "anthropic", clock: systemClock() });
 * prices.costOf("claude-sonnet-4-5", { inputTokens: 1_000, outputTokens: 100, cachedTokens: 0 }); // 0.0045
 */
export function createPriceTable({ provider, overrides = {}, isLocal = false, clock }: PriceTableOptions): PriceTable {
  const knownOf = (model: string): KnownModel => (Object.hasOwn(overrides, model) ? (overrides[model] ?? {}) : {});
  return {
    priceOf: (model) => knownOf(model).price ?? (isLocal ? free : bundledPrice(provider, model, clock.now())),
    costOf(model, usage) {
      const { price } = knownOf(model);
      if (price) return costAt(price, usage);
      return isLocal ? 0 : bundledCost(provider, model, usage, clock.now());
    },
    contextOf: (model) =>
      knownOf(model).contextTokens ?? (isLocal ? null : bundledContext(provider, model, clock.now())),
  };
}

const free: ModelPrice = { inputPerMillion: 0, outputPerMillion: 0 };
const million = 1_000_000;

/** Cached tokens are a part of those that were read, and counted once. */
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
