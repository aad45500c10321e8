import { z } from "zod";

// The part of the chat completions API for text and functions. Other fields are refused as unknown.

const textPart = z.strictObject({ type: z.literal("text"), text: z.string() });
const imagePart = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({ url: z.string(), detail: z.enum(["auto", "low", "high", "original"]).optional() }),
});
const refusalPart = z.strictObject({ type: z.literal("refusal"), refusal: z.string() });

const words = z.union([z.string(), z.array(textPart).min(1)]);
const name = z.string().optional();

const functionName = z
  .string()
  .regex(/^[a-zA-Z0-9_-]+$/)
  .max(64);

const ToolCall = z.strictObject({
  id: z.string().min(1).max(64),
  type: z.literal("function"),
  function: z.strictObject({ name: functionName, arguments: z.string() }),
});

const Message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("developer"), content: words, name }),
  z.strictObject({ role: z.literal("system"), content: words, name }),
  z.strictObject({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(z.discriminatedUnion("type", [textPart, imagePart])).min(1)]),
    name,
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.union([z.string(), z.array(z.discriminatedUnion("type", [textPart, refusalPart])).min(1)]).nullish(),
    name,
    refusal: z.string().nullish(),
    tool_calls: z.array(ToolCall).min(1).max(128).optional(),
    // Only where the server says that it has this field: otherwise `checkChat` refuses it.
    reasoning_content: z.string().nullish(),
    reasoning: z.string().nullish(),
  }),
  z.strictObject({ role: z.literal("tool"), content: words, tool_call_id: z.string().min(1) }),
]);
export type ChatMessage = z.infer<typeof Message>;

const Schema = z.record(z.string(), z.unknown());

const Tool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: functionName,
    description: z.string().optional(),
    parameters: Schema.nullish(),
    strict: z.boolean().nullish(),
  }),
});

const ResponseFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    json_schema: z.strictObject({
      name: functionName,
      description: z.string().optional(),
      schema: Schema.optional(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

export const ChatRequest = z.strictObject({
  model: z.string().min(1),
  messages: z.array(Message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  n: z.int().min(1).max(1).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  seed: z.int().nullish(),
  tools: z.array(Tool).min(1).max(128).optional(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: z.string() }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: ResponseFormat.optional(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullish(),
  verbosity: z.enum(["low", "medium", "high"]).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  store: z.boolean().nullish(),
  user: z.string().optional(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().max(64).nullish(),
  prompt_cache_retention: z.enum(["in_memory", "24h"]).nullish(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority", "fast"]).nullish(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;
