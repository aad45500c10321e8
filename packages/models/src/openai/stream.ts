import type { Clock } from "@troupe/core";
import type OpenAI from "openai";
import { Stream } from "openai/streaming";
import { readTextUpTo } from "../wire/http.ts";
import { BrokenAnswer, vendorErrorOf } from "./vendor-error.ts";

/** One event of a stream. */
export interface ServerEvent {
  /** Null for an event without a name. */
  event: string | null;
  data: unknown;
}

/** A stream that is being read. */
export interface EventStream {
  events: AsyncIterable<ServerEvent>;
  /** Once the events have ended: whether the server marked the end with `[DONE]`. */
  wasClosed(): boolean;
}

export interface StreamOptions {
  /** Aborts the request. */
  signal: AbortSignal;
  /** Called for all bytes. */
  onActivity(): void;
  clock: Clock;
}

/** A successful response that is not a stream of a model API. */
export class UnexpectedResponse extends Error {
  override readonly name = "UnexpectedResponse";
}

/** The longest response that is read, far longer than any answer. */
const streamBytesMax = 64 * 1024 * 1024;

const bodyCharactersMax = 64 * 1024;

/** The events of a successful response. Throws `UnexpectedResponse` or `BrokenAnswer` when it is not a stream. */
export async function readStream(client: OpenAI, response: Response, options: StreamOptions): Promise<EventStream> {
  const contentType = response.headers.get("content-type") ?? "";
  if (/html|json/i.test(contentType)) throw await notAStream(response, contentType);
  if (!response.body) throw new UnexpectedResponse("it answered with an empty body");
  const observed = observeBytes(response.body, options);
  // The SDK aborts this controller at the end. Its last two arguments: events keep their names, and events with an error
  // are passed on unchanged.
  const end = new AbortController();
  const events = Stream.fromSSEResponse<ServerEvent>(new Response(observed.body), end, client, true, "events");
  // The SDK stops reading at `[DONE]`: a body that was read to its end did not contain it.
  return { events, wasClosed: () => !observed.isAtEnd() };
}

async function notAStream(response: Response, contentType: string): Promise<Error> {
  const text = await readTextUpTo(response, bodyCharactersMax);
  const parsed = parseJson(text);
  const error = typeof parsed === "object" && parsed !== null && "error" in parsed ? parsed.error : null;
  if (error) return new BrokenAnswer(vendorErrorOf(error, null));
  const { message } = vendorErrorOf(text, null);
  return new UnexpectedResponse(
    `it answered with ${contentType.split(";")[0]} instead of a stream of events: ${message.slice(0, 120)}`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Time for a connection to end after the last event. */
const endingMsMax = 1_000;

/**
 * Passes bytes on and reports them: there are signs of life between events. When the reader stops early, the rest of the
 * body is read in the background, so that the next call can reuse the connection.
 */
function observeBytes(body: ReadableStream<Uint8Array>, { signal, clock, onActivity }: StreamOptions) {
  const reader = body.getReader();
  let isAtEnd = false;
  let bytes = 0;
  const observed = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          isAtEnd = true;
          controller.close();
          return;
        }
        bytes += value.byteLength;
        if (bytes > streamBytesMax) {
          await reader.cancel();
          throw new UnexpectedResponse(`it answered with more than ${streamBytesMax} bytes`);
        }
        onActivity();
        controller.enqueue(value);
      },
      async cancel(reason) {
        if (isAtEnd || signal.aborted) await reader.cancel(reason);
        else void readToEnd(reader, clock);
      },
    },
    { highWaterMark: 0 },
  );
  return { body: observed, isAtEnd: () => isAtEnd };
}

/** Never throws. Closes a connection that does not end in time. */
async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>, clock: Clock): Promise<void> {
  const close = (): void => void reader.cancel().catch(() => {});
  const cancel = clock.after(endingMsMax, close);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection broke after the answer was complete.
  } finally {
    cancel();
  }
}
