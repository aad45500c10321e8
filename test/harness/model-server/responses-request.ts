import { z } from "zod";

// The part of the Responses API for text and functions. Other fields are refused as unknown.

const inputText = z.strictObject({ type: z.literal("input_text"), text: z.string() });
const inputImage = z.strictObject({
  type: z.literal("input_image"),
  image_url: z.string().nullish(),
  file_id: z.string().nullish(),
  detail: z.enum(["auto", "low", "high", "original"]).optional(),
});
const outputText = z.strictObject({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.unknown()).optional(),
  logprobs: z.array(z.unknown()).optional(),
});
const refusalPart = z.strictObject({ type: z.literal("refusal"), refusal: z.string() });

const status = z.enum(["in_progress", "completed", "incomplete"]).nullish();
const phase = z.enum(["commentary", "final_answer"]).nullish();

const AskingMessage = z.strictObject({
  type: z.literal("message").optional(),
  role: z.enum(["user", "system", "developer"]),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [inputText, inputImage])).min(1)]),
  status,
});

const AnsweringMessage = z.strictObject({
  type: z.literal("message").optional(),
  role: z.literal("assistant"),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [outputText, refusalPart])).min(1)]),
  id: z.string().startsWith("msg").optional(),
  status,
  phase,
});

const Message = z.discriminatedUnion("role", [AskingMessage, AnsweringMessage]);

const functionName = z
  .string()
  .regex(/^[a-zA-Z0-9_-]+$/)
  .max(64);

const callId = z.string().min(1).max(64);

const FunctionCall = z.strictObject({
  type: z.literal("function_call"),
  id: z.string().startsWith("fc").optional(),
  call_id: callId,
  name: functionName,
  arguments: z.string(),
  status,
});

const FunctionOutput = z.strictObject({
  type: z.literal("function_call_output"),
  id: z.string().startsWith("fc").nullish(),
  call_id: callId,
  output: z.union([z.string(), z.array(z.discriminatedUnion("type", [inputText, inputImage]))]),
  status,
});

const Reasoning = z.strictObject({
  type: z.literal("reasoning"),
  id: z.string().startsWith("rs"),
  summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string() })),
  content: z.array(z.strictObject({ type: z.literal("reasoning_text"), text: z.string() })).optional(),
  encrypted_content: z.string().nullish(),
  status,
});

const Item = z.discriminatedUnion("type", [Message, FunctionCall, FunctionOutput, Reasoning]);
export type ResponsesItem = z.infer<typeof Item>;

const Schema = z.record(z.string(), z.unknown());

const Tool = z.strictObject({
  type: z.literal("function"),
  name: functionName,
  description: z.string().nullish(),
  parameters: Schema.nullish(),
  strict: z.boolean().nullish(),
});

const Format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    name: functionName,
    description: z.string().optional(),
    schema: Schema,
    strict: z.boolean().nullish(),
  }),
]);

export const ResponsesRequest = z.strictObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(Item).min(1)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  max_tool_calls: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  tools: z.array(Tool).max(128).optional(),
  tool_choice: z
    .union([z.enum(["none", "auto", "required"]), z.strictObject({ type: z.literal("function"), name: z.string() })])
    .optional(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning: z
    .strictObject({
      effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullish(),
      summary: z.enum(["auto", "concise", "detailed"]).nullish(),
    })
    .nullish(),
  text: z
    .strictObject({ format: Format.optional(), verbosity: z.enum(["low", "medium", "high"]).nullish() })
    .optional(),
  include: z.array(z.enum(["reasoning.encrypted_content", "message.output_text.logprobs"])).nullish(),
  store: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
  truncation: z.enum(["auto", "disabled"]).nullish(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  user: z.string().optional(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().max(64).nullish(),
  prompt_cache_retention: z.enum(["in_memory", "24h"]).nullish(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority", "fast"]).nullish(),
  background: z.literal(false).nullish(),
});
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;
