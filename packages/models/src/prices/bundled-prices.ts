import { createRequire } from "node:module";
import type { ModelPrice as BundledPrice, PriceCalculation } from "@pydantic/genai-prices";
import type { Usage } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";
import { maxPrice } from "./max-price.ts";

/**
 * The prices that come with the library of that name. It fetches nothing by itself: only `updatePrices`, which is not
 * called here, would. It is large, and loaded when a price is first asked for.
 */
const require = createRequire(import.meta.url);
const library = (): typeof import("@pydantic/genai-prices") => require("@pydantic/genai-prices");

/**
 * Providers of whom prices are known, by our id of them. The library would guess from parts of a name: a server that
 * somebody calls "my-openai" is not OpenAI, and what it costs nobody here knows.
 */
const providerIds: ReadonlyMap<string, string> = new Map([
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

type Counted = Omit<Usage, "costUsd">;

/** The dearest price that a call can have within a day from then on; null when nobody knows. */
export function bundledPrice(provider: string, model: string, nowMs: number): ModelPrice | null {
  const found = lookUp(provider, model, nowMs);
  if (!found) return null;
  const prices = pricesOfADay(provider, model, found, nowMs).map(toModelPrice);
  return prices.reduce((dearest, price) => (dearest && price ? maxPrice(dearest, price) : null));
}

export function bundledCost(provider: string, model: string, usage: Counted, nowMs: number): number | null {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const found = lookUp(provider, model, nowMs, {
    // A part is never more than the whole: the library would throw.
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
  const providerId = providerIds.get(provider);
  if (!providerId) return null;
  try {
    return library().calcPrice(usage, model, { providerId, timestamp: new Date(nowMs) });
  } catch {
    // What it cannot reckon with nobody knows the price of.
    return null;
  }
}

const hourMs = 3_600_000;

/** Some are cheaper at night: what is set aside has to be enough by day. */
function pricesOfADay(provider: string, model: string, found: PriceCalculation, nowMs: number): BundledPrice[] {
  if (!Array.isArray(found.model.prices)) return [found.model_price];
  const hours = Array.from({ length: 24 }, (_, hour) => lookUp(provider, model, nowMs + hour * hourMs));
  return hours.flatMap((at) => (at ? [at.model_price] : []));
}

/** Null where a token's price is not all that is asked for it, or is not known: an empty list of prices is not free. */
function toModelPrice(price: BundledPrice): ModelPrice | null {
  const input = dearest(price.input_mtok);
  const output = dearest(price.output_mtok, price.output_reasoning_mtok);
  if (price.input_mtok === undefined || price.output_mtok === undefined || price.requests_kcount !== undefined) {
    return null;
  }
  const cached = dearest(price.cache_read_mtok);
  const cacheWrite = dearest(price.cache_write_mtok);
  return {
    inputPerMillion: input,
    outputPerMillion: output,
    ...(price.cache_read_mtok === undefined ? {} : { cachedInputPerMillion: cached }),
    ...(price.cache_write_mtok === undefined ? {} : { cacheWritePerMillion: cacheWrite }),
  };
}

/** Of prices that grow with the length of what is read, the last. */
function dearest(...prices: BundledPrice[string][]): number {
  return Math.max(
    0,
    ...prices.flatMap((price) => {
      if (price === undefined) return [];
      return typeof price === "number" ? [price] : [price.base, ...price.tiers.map((tier) => tier.price)];
    }),
  );
}
