import { setTimeout as delay } from "node:timers/promises";
import { LiveEvent, TroupeError } from "@troupe/core";
import { decodeText, RecordChange } from "@troupe/core/internal";
import { parseFrames, type SseFrame } from "./sse.ts";
import { connectionWasRefused, type Transport, unreachable, withQuery } from "./transport.ts";

/** An event of the daemon. `resync` means that too much has changed: load everything again. */
export type HttpEvent =
  | { type: "change"; change: RecordChange }
  | { type: "live"; event: LiveEvent }
  | { type: "resync" };

export interface FollowOptions {
  /** Only events of this session. @default all sessions */
  session?: string;
  /** The position to start after. @default now */
  after?: number;
  signal: AbortSignal;
}

const backoffMs = { first: 100, most: 2_000 };

/** After this many connections in a row without a frame, the daemon counts as gone. */
const emptyConnectionsMax = 6;

/** Reads one stream after another. Each starts at the position that the one before it reached. */
export async function* followEvents(
  transport: Transport,
  { session, after, signal }: FollowOptions,
  silenceMsMax: number,
): AsyncGenerator<HttpEvent> {
  let position = after;
  let emptyConnections = 0;
  while (!signal.aborted) {
    try {
      const frames = readStream(
        transport,
        withQuery("/api/v1/events", { session, after: position }),
        signal,
        silenceMsMax,
      );
      for await (const frame of frames) {
        emptyConnections = 0;
        if (frame.id !== undefined) position = Number(frame.id);
        const event = toEvent(frame);
        if (event) yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      throwIfFinal(error, emptyConnections, transport.url);
    }
    // A stream ends without an error if the daemon stops, or if this client reads too slowly.
    emptyConnections++;
    const delayMs = Math.min(backoffMs.first * 2 ** (emptyConnections - 1), backoffMs.most);
    // Only an abort rejects this, and the loop checks for it.
    await delay(delayMs, undefined, { signal }).catch(() => {});
  }
}

/** Throws an error that a new connection would not fix: a refusal of the daemon, or no daemon at the address. */
function throwIfFinal(error: unknown, emptyConnections: number, url: string): void {
  if (TroupeError.is(error)) throw error;
  if (connectionWasRefused(error) || emptyConnections >= emptyConnectionsMax) throw unreachable(url, error);
}

/** Reads one connection. A stream without even a heartbeat for too long is aborted. */
async function* readStream(
  transport: Transport,
  path: string,
  signal: AbortSignal,
  silenceMsMax: number,
): AsyncGenerator<SseFrame> {
  const silence = new AbortController();
  const startTimer = () => setTimeout(() => silence.abort(new Error(`silent for ${silenceMsMax} ms`)), silenceMsMax);
  let timer = startTimer();
  try {
    const headers = { accept: "text/event-stream" };
    const response = await transport.send(path, { headers, signal: AbortSignal.any([signal, silence.signal]) });
    for await (const frame of parseFrames(response.body)) {
      // The consumer's own time between two frames must not count as silence.
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
  // A newer daemon can send live events that this client does not know. They are skipped.
  const parsed = LiveEvent.safeParse(JSON.parse(data ?? "null"));
  return parsed.success ? { type: "live", event: parsed.data } : null;
}
