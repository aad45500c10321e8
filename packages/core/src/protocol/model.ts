import { z } from "zod";
import { JsonObject } from "./json.ts";
import { RunError } from "./run-error.ts";
import { ToolCall } from "./tool.ts";

/**
 * What a model thought before it spoke, as its provider wants it back: unread, unchanged, and only by the model that
 * thought it. Where it stood among the words and calls of the reply is kept with it.
 */
export const Thinking = z.object({
  /** Id of the provider, and the model that answered, without the provider's id. */
  provider: z.string(),
  model: z.string(),
  /** Characters of the reply's text, and calls of it, that came before. */
  textBefore: z.int().nonnegative(),
  callsBefore: z.int().nonnegative(),
  /** The adapter's own seal: of the block, and of all that came before it where the model minds. */
  seal: z.string().exactOptional(),
  /** In the provider's own shape. */
  block: JsonObject,
});
export type Thinking = z.infer<typeof Thinking>;

/** A conversation, free of any vendor's shape. */
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

/** `inputTokens` includes the cached ones; `costUsd` is null when the price is unknown, never 0. */
export const Usage = z.object({
  inputTokens: z.int().nonnegative().default(0),
  outputTokens: z.int().nonnegative().default(0),
  /** Of the input: read from the provider's cache. */
  cachedTokens: z.int().nonnegative().default(0),
  /** Of the input: written into the provider's cache. */
  cacheWriteTokens: z.int().nonnegative().exactOptional(),
  /** Of the output: thought, not said. */
  reasoningTokens: z.int().nonnegative().exactOptional(),
  costUsd: z.number().nonnegative().nullable().default(null),
});
export type Usage = z.infer<typeof Usage>;

/** US dollars for a million tokens. */
export const ModelPrice = z.object({
  inputPerMillion: z.number().nonnegative(),
  outputPerMillion: z.number().nonnegative(),
  /** @default inputPerMillion */
  cachedInputPerMillion: z.number().nonnegative().exactOptional(),
  /** @default inputPerMillion */
  cacheWritePerMillion: z.number().nonnegative().exactOptional(),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

export const ModelReply = z.object({
  text: z.string(),
  calls: z.array(ToolCall),
  usage: Usage,
  stopReason: z.enum(["end", "tool_calls", "max_tokens", "refusal"]),
  /** The model that really answered. */
  model: z.string(),
  thinking: z.array(Thinking).exactOptional(),
  /** Requests that failed before the one that was answered: turned away before anything was charged. */
  retries: z.array(z.object({ error: RunError, waitedMs: z.number().nonnegative() })).exactOptional(),
});
export type ModelReply = z.infer<typeof ModelReply>;
