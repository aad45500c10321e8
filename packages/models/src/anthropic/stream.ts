import { Stream } from "@anthropic-ai/sdk/core/streaming";
import { z } from "zod";
import { isDecodingFailure } from "../wire/failure.ts";
import { readTextUpTo } from "../wire/http.ts";
import { type Failures, WireError } from "./failures.ts";

/** The longest response that is read, far longer than any answer. */
const streamBytesMax = 64 * 1024 * 1024;

export interface StreamListener {
  failures: Failures;
  /** Called for all bytes: a ping is a sign of life, too. */
  onActivity(): void;
}

/**
 * The events of a response, up to its proper end. Throws a `RunFailure` for a response that ends otherwise, contains an
 * error, or is not a stream of this API. It reads on after the last event, so that the connection can be reused.
 */
export async function* readStream(response: Response, listener: StreamListener): AsyncGenerator<StreamEvent> {
  const { failures } = listener;
  const contentType = response.headers.get("content-type") ?? "";
  if (contentType !== "" && !/event-stream/i.test(contentType)) throw await notAStream(response, contentType, failures);
  let hasBegun = false;
  let hasEnded = false;
  try {
    // The SDK uses only the body of a response, and iterates over it.
    const observed = { body: observeBytes(response, listener) } as unknown as Response;
    for await (const { data } of Stream.rawEvents(observed)) {
      const event: StreamEvent | null = hasEnded ? null : readEvent(data, hasBegun, failures);
      if (event === null) continue;
      hasBegun ||= event.type === "message_start";
      hasEnded = event.type === "message_stop";
      yield event;
    }
  } catch (thrown) {
    if (!hasEnded) throw streamFailure(thrown, hasBegun, failures);
  }
  if (!hasEnded) throw hasBegun ? failures.ofBrokenStream(null) : failures.ofOtherApi("nothing");
}

function readEvent(data: string, hasBegun: boolean, failures: Failures): StreamEvent | null {
  if (data === "" || data === "[DONE]") return null;
  let event: StreamEvent | null;
  try {
    event = parseStreamEvent(data);
  } catch {
    const what = "an invalid event";
    throw hasBegun ? failures.ofBrokenStream(what) : failures.ofOtherApi(what);
  }
  if (event?.type === "error") throw failures.ofEvent(event.error, hasBegun);
  return event;
}

/** Broken compression from the first byte on comes from a proxy, not from a lost connection. */
function streamFailure(thrown: unknown, hasBegun: boolean, failures: Failures): Error {
  return !hasBegun && isDecodingFailure(thrown)
    ? failures.ofOtherApi("bytes that cannot be decompressed")
    : failures.ofBrokenStream(thrown);
}

/** A plain loop: a second stream around the first would cost as much as all other work on the bytes. */
async function* observeBytes({ body }: Response, { onActivity, failures }: StreamListener): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > streamBytesMax) throw failures.ofOtherApi(`more than ${streamBytesMax} bytes`);
    onActivity();
    yield chunk;
  }
}

const ErrorBody = z.object({ error: WireError });
const errorCharactersMax = 64 * 1024;

/** Some proxies report an error with status 200. An HTML page means that the server does not have this API. */
async function notAStream(response: Response, contentType: string, failures: Failures): Promise<Error> {
  // A body that broke off is not valid JSON either.
  const body = await readTextUpTo(response, errorCharactersMax).catch(() => "");
  if (!/json/i.test(contentType)) return failures.ofOtherApi(contentType, false);
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return failures.ofOtherApi(`invalid ${contentType}`);
  }
  const { success, data } = ErrorBody.safeParse(parsed);
  return success ? failures.ofEvent(data.error, false) : failures.ofOtherApi(`${contentType} in one piece`);
}

const tokens = z.number().nonnegative().nullish();

const WireUsage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  output_tokens_details: z.object({ thinking_tokens: tokens }).nullish(),
});
export type WireUsage = z.infer<typeof WireUsage>;

const index = z.int().nonnegative();
/** Events, blocks and deltas of unknown types are skipped. */
const UnknownType = z.looseObject({ type: z.string() });

const Block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string().default("") }),
  z.object({
    type: z.literal("tool_use"),
    id: z.string().default(""),
    name: z.string().default(""),
    input: z.unknown(),
  }),
  // Loose: thinking goes back with all its fields.
  z.looseObject({ type: z.literal("thinking"), thinking: z.string().default(""), signature: z.string().default("") }),
  z.looseObject({ type: z.literal("redacted_thinking"), data: z.string() }),
]);
export type StreamBlock = z.infer<typeof Block>;

const Delta = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_delta"), text: z.string() }),
  z.object({ type: z.literal("input_json_delta"), partial_json: z.string() }),
  z.object({ type: z.literal("thinking_delta"), thinking: z.string() }),
  z.object({ type: z.literal("signature_delta"), signature: z.string() }),
]);

const events = {
  message_start: z.object({
    type: z.literal("message_start"),
    message: z.object({ model: z.string().nullish(), usage: WireUsage.nullish() }),
  }),
  content_block_start: z.object({
    type: z.literal("content_block_start"),
    index,
    content_block: z.union([Block, UnknownType.transform(() => null)]),
  }),
  content_block_delta: z.object({
    type: z.literal("content_block_delta"),
    index,
    delta: z.union([Delta, UnknownType.transform(() => null)]),
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

export type StreamEvent = z.infer<(typeof events)[keyof typeof events]>;

/** Parses one event; null for an unknown type. Throws for an invalid event. */
function parseStreamEvent(data: string): StreamEvent | null {
  const event = UnknownType.parse(JSON.parse(data));
  return Object.hasOwn(events, event.type) ? events[event.type as keyof typeof events].parse(event) : null;
}
