import { Stream } from "@anthropic-ai/sdk/core/streaming";
import { z } from "zod";
import { beginningOf } from "../wire/beginning-of.ts";
import { isPackedWrongly } from "../wire/connection-errors.ts";
import type { Failures } from "./failures.ts";
import { parseStreamEvent, type StreamEvent, WireError } from "./stream-event.ts";

/** The longest answer that is read: far more than any model says. */
const streamBytesMax = 64 * 1024 * 1024;

export interface StreamListener {
  failures: Failures;
  /** Bytes came, of whatever kind: a ping is a sign of life too. */
  onActivity(): void;
}

/**
 * The events of an answer, up to its proper end. Throws a `RunFailure` for one that ends otherwise, has an error in it,
 * or is none. What comes after the end is waited for, so that the connection can be used again, but no longer heard.
 */
export async function* readStream(response: Response, listener: StreamListener): AsyncGenerator<StreamEvent> {
  const { failures } = listener;
  const kind = response.headers.get("content-type") ?? "";
  if (kind !== "" && !/event-stream/i.test(kind)) throw await notAStream(response, kind, failures);
  let hasBegun = false;
  let hasEnded = false;
  try {
    // Of a response the SDK reads the body, and of the body that it can be gone through.
    const heard = { body: overheard(response, listener) } as unknown as Response;
    for await (const { data } of Stream.rawEvents(heard)) {
      const event: StreamEvent | null = hasEnded ? null : readEvent(data, hasBegun, failures);
      if (event === null) continue;
      hasBegun ||= event.type === "message_start";
      hasEnded = event.type === "message_stop";
      yield event;
    }
  } catch (thrown) {
    if (!hasEnded) throw brokenOff(thrown, hasBegun, failures);
  }
  if (!hasEnded) throw hasBegun ? failures.ofCut(null) : failures.ofForeign("nothing");
}

function readEvent(data: string, hasBegun: boolean, failures: Failures): StreamEvent | null {
  if (data === "" || data === "[DONE]") return null;
  let event: StreamEvent | null;
  try {
    event = parseStreamEvent(data);
  } catch {
    const what = "an event that cannot be read";
    throw hasBegun ? failures.ofCut(what) : failures.ofForeign(what);
  }
  if (event?.type === "error") throw failures.ofEvent(event.error, hasBegun);
  return event;
}

/** Packed wrongly from the first byte on: what a proxy does, not a broken line. */
function brokenOff(thrown: unknown, hasBegun: boolean, failures: Failures): Error {
  return !hasBegun && isPackedWrongly(thrown)
    ? failures.ofForeign("bytes that cannot be unpacked")
    : failures.ofCut(thrown);
}

/** A bare loop: a stream that passes another one on costs as much as all that is made of its bytes. */
async function* overheard({ body }: Response, { onActivity, failures }: StreamListener): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > streamBytesMax) throw failures.ofForeign(`more than ${streamBytesMax} bytes`);
    onActivity();
    yield chunk;
  }
}

const ErrorBody = z.object({ error: WireError });
const enoughCharacters = 64 * 1024;

/** Some proxies say 200 and mean an error; a page of HTML means that nobody there knows this API. */
async function notAStream(response: Response, kind: string, failures: Failures): Promise<Error> {
  // One that broke off cannot be read as JSON either.
  const body = await beginningOf(response, enoughCharacters).catch(() => "");
  if (!/json/i.test(kind)) return failures.ofForeign(kind, false);
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return failures.ofForeign(`${kind} that cannot be read`);
  }
  const { success, data } = ErrorBody.safeParse(parsed);
  return success ? failures.ofEvent(data.error, false) : failures.ofForeign(`${kind} in one piece`);
}
