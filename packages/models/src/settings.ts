import { ModelPrice } from "@troupe/core/internal";
import { z } from "zod";

/** The wires that a model can be spoken to over. */
export const Wire = z.enum(["anthropic", "openai-chat", "openai-responses"]);
export type Wire = z.infer<typeof Wire>;

/** What all agents of a host together may ask of one provider with one key. Null: no limit of ours. */
export const ProviderLimits = z.strictObject({
  /** Calls at the same time. */
  concurrency: z.int().positive().nullable().default(null),
  requestsPerMinute: z.number().positive().nullable().default(null),
  tokensPerMinute: z.number().positive().nullable().default(null),
  /** Silence on the wire, from the request or from whatever came last, after which a call is given up. */
  idleTimeoutMs: z.int().positive().default(75_000),
});
export type ProviderLimits = z.infer<typeof ProviderLimits>;

/** How one provider is reached, with everything resolved: what an adapter is made of. Never stored, never shown. */
export interface ProviderSettings {
  /** What its models' ids begin with. */
  id: string;
  wire: Wire;
  /** Null: the vendor's own address. */
  baseUrl: string | null;
  /** Null for a server that wants none. */
  key: string | null;
  /** A bearer token in place of a key, where the vendor knows both. */
  authToken: string | null;
  /** The variable that a key is read from, for whoever is told that it is missing or wrong. */
  keyVariable: string | null;
  /** Sent with every request. */
  headers: Readonly<Record<string, string>>;
  limits: ProviderLimits;
  /** Overrides what is known of its models; by the model's name, without the provider's id. */
  models: Readonly<Record<string, KnownModel>>;
  /** A server on this machine or in this house: nothing is paid, and its models' windows are its owner's choice. */
  isLocal: boolean;
}

/** What a user can say of one model. */
export const KnownModel = z.strictObject({
  price: ModelPrice.exactOptional(),
  /** The longest conversation that it can read, its answer included. */
  contextTokens: z.int().positive().exactOptional(),
});
export type KnownModel = z.infer<typeof KnownModel>;
