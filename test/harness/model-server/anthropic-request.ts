import { z } from "zod";
import { Refusal } from "./refusal.ts";
import { schemaProblemOf } from "./schema-problem.ts";

// The part of the Messages API for text and tools. Other fields are refused as unknown.

const CacheControl = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() }).nullish();

const idPattern = /^[a-zA-Z0-9_-]+$/;

const TextBlock = z.strictObject({
  type: z.literal("text"),
  text: z.string(),
  cache_control: CacheControl,
  citations: z.null().optional(),
});

const Source = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("base64"), media_type: z.string(), data: z.string() }),
  z.strictObject({ type: z.literal("url"), url: z.string() }),
  z.strictObject({ type: z.literal("text"), media_type: z.literal("text/plain"), data: z.string() }),
]);

const ImageBlock = z.strictObject({ type: z.literal("image"), source: Source, cache_control: CacheControl });

const DocumentBlock = z.strictObject({
  type: z.literal("document"),
  source: Source,
  title: z.string().nullish(),
  context: z.string().nullish(),
  cache_control: CacheControl,
});

const ToolUseBlock = z.strictObject({
  type: z.literal("tool_use"),
  id: z.string().regex(idPattern),
  name: z.string().min(1).max(200),
  input: z.record(z.string(), z.unknown()),
  cache_control: CacheControl,
  caller: z.strictObject({ type: z.literal("direct") }).optional(),
});

const ToolResultBlock = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string().regex(idPattern),
  content: z
    .union([z.string(), z.array(z.discriminatedUnion("type", [TextBlock, ImageBlock, DocumentBlock]))])
    .optional(),
  is_error: z.boolean().optional(),
  cache_control: CacheControl,
});

const ThinkingBlock = z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() });
const RedactedBlock = z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() });

const Block = z.discriminatedUnion("type", [
  TextBlock,
  ImageBlock,
  DocumentBlock,
  ToolUseBlock,
  ToolResultBlock,
  ThinkingBlock,
  RedactedBlock,
]);
export type Block = z.infer<typeof Block>;

const Message = z.strictObject({
  role: z.enum(["user", "assistant", "system"]),
  content: z.union([z.string(), z.array(Block)]),
});

const Tool = z.strictObject({
  type: z.literal("custom").nullish(),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  description: z.string().optional(),
  input_schema: z.looseObject({
    type: z.literal("object"),
    properties: z.record(z.string(), z.unknown()).nullish(),
    required: z.array(z.string()).nullish(),
  }),
  cache_control: CacheControl,
  strict: z.boolean().optional(),
  defer_loading: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullish(),
  allowed_callers: z.array(z.literal("direct")).optional(),
  input_examples: z.array(z.record(z.string(), z.unknown())).optional(),
});

const display = z.enum(["summarized", "omitted"]).nullish();

const Thinking = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1024), display }),
  z.strictObject({ type: z.literal("adaptive"), display }),
  z.strictObject({ type: z.literal("disabled") }),
  z.strictObject({ type: z.literal("between_tools") }),
]);

const parallel = z.boolean().optional();

const ToolChoice = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("auto"), disable_parallel_tool_use: parallel }),
  z.strictObject({ type: z.literal("any"), disable_parallel_tool_use: parallel }),
  z.strictObject({ type: z.literal("tool"), name: z.string(), disable_parallel_tool_use: parallel }),
  z.strictObject({ type: z.literal("none") }),
]);

const prompt = {
  model: z.string().min(1),
  messages: z.array(Message).max(100_000),
  system: z.union([z.string(), z.array(TextBlock)]).optional(),
  tools: z.array(Tool).optional(),
  tool_choice: ToolChoice.optional(),
  thinking: Thinking.optional(),
  cache_control: CacheControl,
  output_config: z
    .strictObject({
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish(),
      format: z.strictObject({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) }).nullish(),
    })
    .optional(),
};

export const AnthropicRequest = z.strictObject({
  ...prompt,
  max_tokens: z.int().min(1),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().nonnegative().optional(),
  stop_sequences: z.array(z.string().regex(/\S/)).optional(),
  metadata: z.strictObject({ user_id: z.string().max(256).nullish() }).optional(),
  service_tier: z.enum(["auto", "standard_only"]).optional(),
  speed: z.enum(["standard", "fast"]).nullish(),
  inference_geo: z.string().nullish(),
  container: z.string().nullish(),
  diagnostics: z.strictObject({ previous_message_id: z.string().nullish() }).nullish(),
});
export type AnthropicRequest = z.infer<typeof AnthropicRequest>;

export const AnthropicCount = z.strictObject(prompt);

/** A body by its schema, or the vendor's refusal: `messages.0.content.1.text: Field required`. */
export function parseAnthropic<Body>(schema: z.ZodType<Body>, body: unknown): Body {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const { path, kind, issue } = schemaProblemOf(parsed.error, body);
  const problem = { missing: "Field required", unknown: "Extra inputs are not permitted", invalid: issue.message }[
    kind
  ];
  throw new Refusal(400, path.length > 0 ? `${path.join(".")}: ${problem}` : problem);
}
