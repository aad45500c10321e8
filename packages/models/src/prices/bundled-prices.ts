import { createRequire } from "node:module";
import type { ModelPrice as BundledPrice, PriceCalculation } from "@pydantic/genai-prices";
import type { Usage } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";
import { maxPrice } from "./max-price.ts";

/**
 * The price list of this library. Only its `updatePrices` would fetch anything, and it is never called. The list is
 * large, so it is loaded with the first question for a price.
 */
const require = createRequire(import.meta.url);
const library = (): typeof import("@pydantic/genai-prices") => require("@pydantic/genai-prices");

/**
 * The library's provider ids, by our ids. Without this map the library would guess from parts of a name: a server called
 * "my-openai" is not OpenAI, and its prices are unknown.
 */
const libraryIds: ReadonlyMap<string, string> = new Map([
  ...["anthropic", "openai", "openrouter", "deepseek", "groq", "mistral", "together", "fireworks", "cerebras"].map(
    (id): [string, string] => [id, id],
  ),
  ["google", "google"],
  ["gemini", "google"],
  ["xai", "x-ai"],
  ["x-ai", "x-ai"],
  ["moonshot", "moonshotai"],
  ["moonshotai", "moonshotai"],
]);

/** The highest price that a call can have within the next 24 hours; null when unknown. */
export function bundledPrice(provider: string, model: string, nowMs: number): ModelPrice | null {
  const found = lookUp(provider, model, nowMs);
  if (!found) return null;
  return maxPrice(pricesOfADay(provider, model, found, nowMs).map(toModelPrice));
}

export function bundledCost(
  provider: string,
  model: string,
  usage: Omit<Usage, "costUsd">,
  nowMs: number,
): number | null {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const found = lookUp(provider, model, nowMs, {
    // The library throws when a part exceeds its total.
    input_tokens: Math.max(inputTokens, cachedTokens + cacheWriteTokens),
    cache_read_tokens: cachedTokens,
    cache_write_tokens: cacheWriteTokens,
    output_tokens: Math.max(outputTokens, reasoningTokens),
    output_reasoning_tokens: reasoningTokens,
  });
  return found && toModelPrice(found.model_price) !== null ? found.total_price : null;
}

export function bundledContext(provider: string, model: string, nowMs: number): number | null {
  return lookUp(provider, model, nowMs)?.model.context_window ?? null;
}

function lookUp(
  provider: string,
  model: string,
  nowMs: number,
  usage: Record<string, number> = {},
): PriceCalculation | null {
  const providerId = libraryIds.get(provider);
  if (!providerId) return null;
  try {
    return library().calcPrice(usage, model, { providerId, timestamp: new Date(nowMs) });
  } catch {
    // The library throws for usage that it has no price for: the cost is unknown.
    return null;
  }
}

const hourMs = 3_600_000;

/** Some models are cheaper at night: a reservation has to cover the price by day. */
function pricesOfADay(provider: string, model: string, found: PriceCalculation, nowMs: number): BundledPrice[] {
  if (!Array.isArray(found.model.prices)) return [found.model_price];
  const hours = Array.from({ length: 24 }, (_, hour) => lookUp(provider, model, nowMs + hour * hourMs));
  return hours.flatMap((hour) => (hour ? [hour.model_price] : []));
}

/** Null when the price is unknown, or is not per token alone. An empty price list does not mean free. */
function toModelPrice(price: BundledPrice): ModelPrice | null {
  const input = highest(price.input_mtok);
  const output = highest(price.output_mtok, price.output_reasoning_mtok);
  if (price.input_mtok === undefined || price.output_mtok === undefined || price.requests_kcount !== undefined) {
    return null;
  }
  const cached = highest(price.cache_read_mtok);
  const cacheWrite = highest(price.cache_write_mtok);
  return {
    inputPerMillion: input,
    outputPerMillion: output,
    ...(price.cache_read_mtok === undefined ? {} : { cachedInputPerMillion: cached }),
    ...(price.cache_write_mtok === undefined ? {} : { cacheWritePerMillion: cacheWrite }),
  };
}

/** The highest of these prices. A price with tiers grows with the input length. */
function highest(...prices: BundledPrice[string][]): number {
  return Math.max(
    0,
    ...prices.flatMap((price) => {
      if (price === undefined) return [];
      return typeof price === "number" ? [price] : [price.base, ...price.tiers.map((tier) => tier.price)];
    }),
  );
}
