import { z } from "zod";

const tokens = z.number().nonnegative().nullish();

export const WireUsage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  output_tokens_details: z.object({ thinking_tokens: tokens }).nullish(),
});
export type WireUsage = z.infer<typeof WireUsage>;

export const WireError = z.object({
  type: z.string().nullish(),
  message: z.string().nullish(),
  details: z.object({ error_code: z.string().nullish() }).nullish(),
});
export type WireError = z.infer<typeof WireError>;

const index = z.int().nonnegative();
/** Kinds that are new to us have fields that are new to us. */
const anyKind = z.looseObject({ type: z.string() });

const Block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string().default("") }),
  z.object({
    type: z.literal("tool_use"),
    id: z.string().default(""),
    name: z.string().default(""),
    input: z.unknown(),
  }),
  // Sent back as they came, whatever else is in them.
  z.looseObject({ type: z.literal("thinking"), thinking: z.string().default(""), signature: z.string().default("") }),
  z.looseObject({ type: z.literal("redacted_thinking"), data: z.string() }),
]);

const Delta = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_delta"), text: z.string() }),
  z.object({ type: z.literal("input_json_delta"), partial_json: z.string() }),
  z.object({ type: z.literal("thinking_delta"), thinking: z.string() }),
  z.object({ type: z.literal("signature_delta"), signature: z.string() }),
]);

const kinds = {
  message_start: z.object({
    type: z.literal("message_start"),
    message: z.object({ model: z.string().nullish(), usage: WireUsage.nullish() }),
  }),
  content_block_start: z.object({
    type: z.literal("content_block_start"),
    index,
    content_block: z.union([Block, anyKind.transform(() => null)]),
  }),
  content_block_delta: z.object({
    type: z.literal("content_block_delta"),
    index,
    delta: z.union([Delta, anyKind.transform(() => null)]),
  }),
  content_block_stop: z.object({ type: z.literal("content_block_stop"), index }),
  message_delta: z.object({
    type: z.literal("message_delta"),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: WireUsage.nullish(),
  }),
  message_stop: z.object({ type: z.literal("message_stop") }),
  error: z.object({ type: z.literal("error"), error: WireError }),
};

export type StreamEvent = z.infer<(typeof kinds)[keyof typeof kinds]>;
export type StreamBlock = z.infer<typeof Block>;

/** One event; null for one of a kind that is not known, which is no reason to stop. Throws what is none at all. */
export function parseStreamEvent(data: string): StreamEvent | null {
  const event = anyKind.parse(JSON.parse(data));
  return Object.hasOwn(kinds, event.type) ? kinds[event.type as keyof typeof kinds].parse(event) : null;
}
