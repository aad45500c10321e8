import { setTimeout as delay } from "node:timers/promises";
import { LiveEvent, TroupeError } from "@troupe/core";
import { decodeText, RecordChange } from "@troupe/core/internal";
import { connectionWasRefused, type Exchange, unreachable, withQuery } from "./exchange.ts";
import { parseFrames, type SseFrame } from "./sse.ts";

/** `resync`: too much has changed to be told; load everything anew. */
export type HttpEvent =
  | { type: "change"; change: RecordChange }
  | { type: "live"; event: LiveEvent }
  | { type: "resync" };

export interface FollowOptions {
  /** Only this session. */
  session?: string;
  /** The position to go on from; without it, from now. */
  after?: number;
  signal: AbortSignal;
}

const backoffMs = { first: 100, most: 2_000 };

/** Connections in a row that bring nothing, before the daemon counts as gone. */
const fruitlessMax = 6;

/** Reads one stream after another, each from the position that the one before it reached. */
export async function* followEvents(
  exchange: Exchange,
  { session, after, signal }: FollowOptions,
  silenceMsMax: number,
): AsyncGenerator<HttpEvent> {
  let position = after;
  let fruitless = 0;
  while (!signal.aborted) {
    try {
      const frames = readStream(exchange, withQuery("/api/events", { session, after: position }), signal, silenceMsMax);
      for await (const frame of frames) {
        fruitless = 0;
        if (frame.id !== undefined) position = Number(frame.id);
        const event = toEvent(frame);
        if (event) yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      stopIfHopeless(error, fruitless, exchange.url);
    }
    // An end without an error is a daemon that stops, or that has found us too slow.
    fruitless++;
    const delayMs = Math.min(backoffMs.first * 2 ** (fruitless - 1), backoffMs.most);
    // Only an abort can make it fail, and that ends the loop by itself.
    await delay(delayMs, undefined, { signal }).catch(() => {});
  }
}

/** The daemon's own refusal, or nobody at its address: trying again would change nothing. */
function stopIfHopeless(error: unknown, fruitless: number, url: string): void {
  if (TroupeError.is(error)) throw error;
  if (connectionWasRefused(error) || fruitless >= fruitlessMax) throw unreachable(url, error);
}

/** One connection. A stream that says nothing for too long is given up: even its heartbeat is missing. */
async function* readStream(
  exchange: Exchange,
  path: string,
  signal: AbortSignal,
  silenceMsMax: number,
): AsyncGenerator<SseFrame> {
  const silence = new AbortController();
  const startTimer = () => setTimeout(() => silence.abort(new Error(`silent for ${silenceMsMax} ms`)), silenceMsMax);
  let timer = startTimer();
  try {
    const headers = { accept: "text/event-stream" };
    const response = await exchange.send(path, { headers, signal: AbortSignal.any([signal, silence.signal]) });
    if (response.body === null) return;
    for await (const frame of parseFrames(response.body)) {
      // A reader that takes its time between two frames must not look like silence.
      clearTimeout(timer);
      yield frame;
      timer = startTimer();
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function toEvent({ event, data }: SseFrame): HttpEvent | null {
  if (event === "resync") return { type: "resync" };
  if (event === "change") return { type: "change", change: decodeText(RecordChange, data ?? "", "a change") };
  if (event !== "live") return null;
  // A newer daemon may have live events that this client does not know: worth nothing, so no reason to stop.
  const parsed = LiveEvent.safeParse(JSON.parse(data ?? "null"));
  return parsed.success ? { type: "live", event: parsed.data } : null;
}
