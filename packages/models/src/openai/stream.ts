import type { Clock } from "@troupe/core";
import OpenAI from "openai";
import { Stream } from "openai/streaming";
import type { ProviderSettings } from "../settings.ts";
import { beginningOf } from "../wire/beginning-of.ts";
import { clientFetch, requestHeaders } from "../wire/http.ts";
import { BrokenAnswer, vendorErrorOf } from "./vendor-error.ts";

/** One event of a server's answer. */
export interface ServerEvent {
  /** Its name; null where it has none. */
  event: string | null;
  data: unknown;
}

/** An answer that is still coming. */
export interface OpenAnswer {
  events: AsyncIterable<ServerEvent>;
  /** Once the events have ended: whether the server said itself that nothing more comes. */
  wasClosed(): boolean;
}

/** What goes on beside the events. */
export interface Watching {
  /** Ends the request at once. */
  signal: AbortSignal;
  /** Something came. */
  onActivity(): void;
  clock: Clock;
}

/** A server that turned out to be something else than an API for models. */
export class NotAnApi extends Error {
  override readonly name = "NotAnApi";
}

/** OpenAI's own address, and nobody else's variable. */
export const openAiBaseUrl = "https://api.openai.com/v1";

/** The SDK's own time limits are out of the way: there is one watchdog, and it is not here. */
const timeoutMs = 24 * 60 * 60 * 1000;

/** Stands where the SDK insists on a key; it is never sent. */
const noKey = "none";

/**
 * The SDK's client, with everything said to it that it would otherwise read from the environment, and with the headers
 * that go out decided here alone. It never goes to another address than the one that it was given, wherever a server
 * sends it: the key goes with every request.
 */
export function createClient(settings: ProviderSettings, fetch: typeof globalThis.fetch): OpenAI {
  return new OpenAI({
    apiKey: noKey,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: settings.baseUrl ?? openAiBaseUrl,
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: "off",
    fetch: clientFetch(fetch, () => headersOf(settings)),
  });
}

function headersOf(settings: ProviderSettings): Headers {
  const bearer = settings.key ?? settings.authToken;
  return requestHeaders(settings, bearer === null ? {} : { authorization: `Bearer ${bearer}` });
}

/** The longest answer that is read: far more than any model says. */
const streamBytesMax = 64 * 1024 * 1024;

const noStreamCharactersMax = 64 * 1024;

/** The events of a response that began well. Throws a `NotAnApi` or a `BrokenAnswer` where it is no stream of events. */
export async function openAnswer(client: OpenAI, response: Response, watching: Watching): Promise<OpenAnswer> {
  const kind = response.headers.get("content-type") ?? "";
  if (/html|json/i.test(kind)) throw await noStream(response, kind);
  if (!response.body) throw new NotAnApi("it answered with an empty body");
  const watched = watch(response.body, watching);
  // Aborted by the SDK when nobody wants more events. The last two arguments: events come with their names, and those
  // with an error come as they are.
  const enough = new AbortController();
  const events = Stream.fromSSEResponse<ServerEvent>(new Response(watched.body), enough, client, true, "events");
  // The SDK stops reading at `[DONE]`: what was read to its end did not have it.
  return { events, wasClosed: () => !watched.isAtEnd() };
}

async function noStream(response: Response, kind: string): Promise<Error> {
  const text = await beginningOf(response, noStreamCharactersMax);
  const parsed = parsedJson(text);
  const error = typeof parsed === "object" && parsed !== null && "error" in parsed ? parsed.error : null;
  if (error) return new BrokenAnswer(vendorErrorOf(error, null));
  const said = vendorErrorOf(text, null).message;
  return new NotAnApi(`it answered with ${kind.split(";")[0]} instead of a stream of events: ${said.slice(0, 120)}`);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** How long a connection may take to come to its end after the last event. */
const endingMsMax = 1_000;

/**
 * Passes bytes on, telling of each that comes: signs of life between events are no events. Who has had enough does not
 * see the end of the connection: it is read beside, so that the next call can have it.
 */
function watch(body: ReadableStream<Uint8Array>, { signal, clock, onActivity }: Watching) {
  const reader = body.getReader();
  let isAtEnd = false;
  let bytes = 0;
  const passed = new ReadableStream<Uint8Array>(
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
          throw new NotAnApi(`it answered with more than ${streamBytesMax} bytes`);
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
  return { body: passed, isAtEnd: () => isAtEnd };
}

/** Never throws. A connection that does not end by itself is ended. */
async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>, clock: Clock): Promise<void> {
  const end = (): void => void reader.cancel().catch(() => {});
  const cancel = clock.after(endingMsMax, end);
  try {
    while (!(await reader.read()).done);
  } catch {
    // It broke: there is nothing to be had any more.
  } finally {
    cancel();
  }
}
