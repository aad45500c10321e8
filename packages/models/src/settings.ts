import { ModelPrice } from "@troupe/core/internal";
import { z } from "zod";

/**
 * The APIs that models are called over.
 *
 * @example
 * Wire.parse("openai-chat");
 */
export const Wire = z.enum(["anthropic", "openai-chat", "openai-responses"]);
export type Wire = z.infer<typeof Wire>;

/**
 * Limits that all agents of a host share for one provider and key. Null: no limit on our side.
 *
 * @example
 * ProviderLimits.parse({ concurrency: 8, requestsPerMinute: 50 });
 */
export const ProviderLimits = z.strictObject({
  /** Calls at the same time. */
  concurrency: z.int().positive().nullable().default(null),
  requestsPerMinute: z.number().positive().nullable().default(null),
  tokensPerMinute: z.number().positive().nullable().default(null),
  /** A call is given up when the connection is silent for this long. */
  idleTimeoutMs: z.int().positive().default(75_000),
});
export type ProviderLimits = z.infer<typeof ProviderLimits>;

/** Everything an adapter needs to call one provider. It contains secrets: never store or show it. */
export interface ProviderSettings {
  /** Prefix of its models' ids. */
  id: string;
  wire: Wire;
  /** Null: the vendor's own URL. */
  baseUrl: string | null;
  /** Null for a server that needs no key. */
  key: string | null;
  /** A bearer token in place of a key, for vendors that accept both. */
  authToken: string | null;
  /** Environment variable of the key, for the fix of a missing or wrong key. */
  keyVariable: string | null;
  /** Sent with every request. */
  headers: Readonly<Record<string, string>>;
  limits: ProviderLimits;
  /** Overrides of the known figures, by the model's name without the provider's id. */
  models: Readonly<Record<string, KnownModel>>;
  /** A server that the user runs: calls are free, and the user sets the context windows. */
  isLocal: boolean;
}

/**
 * A user's own figures for one model.
 *
 * @example
 * KnownModel.parse({ contextTokens: 32_768, price: { inputPerMillion: 1, outputPerMillion: 4 } });
 */
export const KnownModel = z.strictObject({
  price: ModelPrice.exactOptional(),
  /** Context window in tokens, output included. */
  contextTokens: z.int().positive().exactOptional(),
});
export type KnownModel = z.infer<typeof KnownModel>;

/** The URL of a provider's API: its own base URL, or the vendor's. */
export function baseUrlOf({ wire, baseUrl }: Pick<ProviderSettings, "wire" | "baseUrl">): string {
  const vendorUrl = wire === "anthropic" ? "https://api.anthropic.com" : "https://api.openai.com/v1";
  return (baseUrl ?? vendorUrl).replace(/\/+$/, "");
}
