import type { Usage } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";

/** What is known of a provider's models without asking it. By the model's name, without the provider's id. */
export interface PriceTable {
  /** The dearest price that a call can have, for what is set aside before it; null when nobody knows. */
  priceOf(model: string): ModelPrice | null;
  /** What a call cost; null when nobody knows, never 0 for that. */
  costOf(model: string, usage: Omit<Usage, "costUsd">): number | null;
  /** The longest conversation that it can read, its answer included. */
  contextOf(model: string): number | null;
}
