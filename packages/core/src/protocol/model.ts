import { z } from "zod";
import { ToolCall } from "./tool.ts";

/** A conversation, free of any vendor's shape. */
export const Message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), text: z.string() }),
  z.object({ role: z.literal("assistant"), text: z.string(), calls: z.array(ToolCall) }),
  z.object({ role: z.literal("tool"), callId: z.string(), name: z.string(), text: z.string(), isError: z.boolean() }),
]);
export type Message = z.infer<typeof Message>;

/** `inputTokens` includes the cached ones; `costUsd` is null when the price is unknown, never 0. */
export const Usage = z.object({
  inputTokens: z.int().nonnegative().default(0),
  outputTokens: z.int().nonnegative().default(0),
  cachedTokens: z.int().nonnegative().default(0),
  costUsd: z.number().nonnegative().nullable().default(null),
});
export type Usage = z.infer<typeof Usage>;

/** US dollars for a million tokens. */
export const ModelPrice = z.object({
  inputPerMillion: z.number().nonnegative(),
  outputPerMillion: z.number().nonnegative(),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

export const ModelReply = z.object({
  text: z.string(),
  calls: z.array(ToolCall),
  usage: Usage,
  stopReason: z.enum(["end", "tool_calls", "max_tokens", "refusal"]),
  /** The model that really answered. */
  model: z.string(),
});
export type ModelReply = z.infer<typeof ModelReply>;
