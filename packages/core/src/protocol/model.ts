import { z } from "zod";
import { JsonObject } from "./json.ts";
import { RunError } from "./run-error.ts";
import { ToolCall } from "./tool.ts";

/**
 * A thinking block of a reply. The provider wants it back unchanged, and only with the model that made it. Its position
 * among the text and the calls of the reply is stored with it.
 */
export const Thinking = z.object({
  provider: z.string(),
  /** The model that answered, without the provider's id. */
  model: z.string(),
  /** Characters of the reply's text before it, and number of calls before it. */
  textBefore: z.int().nonnegative(),
  callsBefore: z.int().nonnegative(),
  /** Hash made by the adapter, over the block and, if the model requires it, over everything before it. */
  seal: z.string().exactOptional(),
  /** In the provider's own format. */
  block: JsonObject,
});
export type Thinking = z.infer<typeof Thinking>;

/**
 * A message of a conversation, independent of any provider.
 *
 * @example
 * const message: Message = { role: "user", text: "Compare the two licences" };
 */
export const Message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), text: z.string() }),
  z.object({
    role: z.literal("assistant"),
    text: z.string(),
    calls: z.array(ToolCall),
    thinking: z.array(Thinking).exactOptional(),
  }),
  z.object({ role: z.literal("tool"), callId: z.string(), name: z.string(), text: z.string(), isError: z.boolean() }),
]);
export type Message = z.infer<typeof Message>;

/** Usage of model calls. `costUsd` is null, never 0, if the price is unknown. */
export const Usage = z.object({
  /** Includes the cached tokens. */
  inputTokens: z.int().nonnegative().default(0),
  outputTokens: z.int().nonnegative().default(0),
  /** Input tokens that were read from the provider's cache. */
  cachedTokens: z.int().nonnegative().default(0),
  /** Input tokens that were written to the provider's cache. */
  cacheWriteTokens: z.int().nonnegative().exactOptional(),
  /** Output tokens that were used for thinking. */
  reasoningTokens: z.int().nonnegative().exactOptional(),
  costUsd: z.number().nonnegative().nullable().default(null),
});
export type Usage = z.infer<typeof Usage>;

/** Prices in US dollars per million tokens. */
export const ModelPrice = z.object({
  inputPerMillion: z.number().nonnegative(),
  outputPerMillion: z.number().nonnegative(),
  /** @default inputPerMillion */
  cachedInputPerMillion: z.number().nonnegative().exactOptional(),
  /** @default inputPerMillion */
  cacheWritePerMillion: z.number().nonnegative().exactOptional(),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

/** A complete reply of a model. */
export const ModelReply = z.object({
  text: z.string(),
  calls: z.array(ToolCall),
  usage: Usage,
  stopReason: z.enum(["end", "tool_calls", "max_tokens", "refusal"]),
  /** The model that answered. It may differ from the requested one. */
  model: z.string(),
  thinking: z.array(Thinking).exactOptional(),
  /** Failed requests before this reply. None of them was charged. */
  retries: z.array(z.object({ error: RunError, waitedMs: z.number().nonnegative() })).exactOptional(),
});
export type ModelReply = z.infer<typeof ModelReply>;

const replayProvider = "replay";
/** Providers that play a script or a recording instead of calling a model. */
const offlineProviders = ["scripted", replayProvider];

/** Whether the model is a script or a recording. */
export function isOfflineModel(id: string): boolean {
  return offlineProviders.includes(providerOf(id) ?? "");
}

/** Whether the model is a recording, such as `replay/SESSION`. */
export function isReplayModel(id: string): boolean {
  return providerOf(id) === replayProvider;
}

/**
 * The model of a session without a configured model. Agents with a handler work under it; a call of it fails, with the
 * command that configures a model.
 */
export const noModel = "none/none";

/** The provider's part of a model id; null if there is none. */
export function providerOf(id: string): string | null {
  const end = id.indexOf("/");
  return end > 0 ? id.slice(0, end) : null;
}
