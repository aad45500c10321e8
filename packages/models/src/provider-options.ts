import type { Clock } from "@troupe/core";
import type { PriceTable } from "./prices/price-table.ts";
import type { ProviderSettings } from "./settings.ts";

/** Options of an adapter for a provider's API. */
export interface ProviderOptions {
  settings: ProviderSettings;
  prices: PriceTable;
  /** @default the system clock */
  clock?: Clock;
  /** @default globalThis.fetch */
  fetch?: typeof globalThis.fetch;
}
