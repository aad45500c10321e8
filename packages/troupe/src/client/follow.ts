import type { LiveEvent } from "@troupe/core";
import { TroupeError } from "@troupe/core/errors";
import type { RecordChange } from "@troupe/core/internal";
import { parseFrames, type SseFrame } from "@troupe/runtime/sse";
import { type Transport, unreachable } from "./transport.ts";

/**
 * An event of the daemon. `change` has current rows: replace yours with them. `resync` says that more has changed than the
 * daemon keeps: load everything again, then go on. `live` events are for displays, and can be lost.
 */
export type ClientEvent =
  | { type: "change"; position: number; change: RecordChange }
  | { type: "live"; event: LiveEvent }
  | { type: "resync"; position: number };

export interface EventsFrom {
  /** Only events of this session. @default all sessions */
  session?: string;
  /** The position to start after, from a list or an earlier event. @default now */
  after?: number;
  /** Ends the events. @default they end when the loop is left */
  signal?: AbortSignal;
  /** How long to try a daemon that does not answer, before `UNREACHABLE`. @default 30_000 */
  patienceMs?: number;
}

const retryMs = { first: 100, most: 2_000 };

/** Three heartbeats. A stream that is silent for longer is broken. */
const silenceMsMax = 45_000;

/**
 * Reads one stream after another. Each begins at the position that the one before it reached, so no change is lost or
 * repeated.
 */
export async function* followEvents(transport: Transport, options: EventsFrom): AsyncGenerator<ClientEvent> {
  const { session } = options;
  const left = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
  let position = options.after;
  const retries = createRetries(transport, options.patienceMs ?? 30_000);
  try {
    while (!signal.aborted) {
      try {
        for await (const frame of readStream(transport, { session, after: position }, signal)) {
          retries.reset();
          if (frame.id !== undefined) position = Number(frame.id);
          const event = toEvent(frame, position ?? 0);
          if (event) yield event;
        }
      } catch (error) {
        if (signal.aborted) return;
        retries.check(error);
      }
      await pause(retries.nextWaitMs(), signal);
    }
  } finally {
    left.abort();
  }
}

interface Retries {
  /** Call it for each frame. */
  reset(): void;
  /** Throws the error if another connection would not help, and `UNREACHABLE` when the patience is over. */
  check(error: unknown): void;
  nextWaitMs(): number;
}

function createRetries(transport: Transport, patienceMs: number): Retries {
  let failingSinceMs: number | null = null;
  let waitMs = retryMs.first;
  return {
    reset() {
      failingSinceMs = null;
      waitMs = retryMs.first;
    },
    check(error) {
      // Other errors of the daemon, such as a wrong token, would come again.
      if (TroupeError.is(error) && !["UNREACHABLE", "CLOSING"].includes(error.code)) throw error;
      const now = performance.now();
      failingSinceMs ??= now;
      if (now - failingSinceMs > patienceMs) throw unreachable(transport.url, error);
    },
    nextWaitMs() {
      const now = waitMs;
      waitMs = Math.min(2 * waitMs, retryMs.most);
      return now;
    },
  };
}

async function* readStream(
  transport: Transport,
  from: { session: string | undefined; after: number | undefined },
  signal: AbortSignal,
): AsyncGenerator<SseFrame> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(from)) if (value !== undefined) query.set(name, String(value));
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listen = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), silenceMsMax);
  };
  listen();
  try {
    const init = { headers: { accept: "text/event-stream" }, signal: AbortSignal.any([signal, silence.signal]) };
    const response = await transport.send(query.size === 0 ? "/events" : `/events?${query}`, init);
    if (response.body === null) return;
    for await (const frame of parseFrames(chunksOf(response.body))) {
      // The time that the reader of the events takes is not silence of the daemon.
      clearTimeout(timer);
      yield frame;
      listen();
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value;
}

/** Null for a heartbeat, and for an event that this version does not know. */
function toEvent({ event, data = "null" }: SseFrame, position: number): ClientEvent | null {
  if (event === "resync") return { type: "resync", position };
  if (event === "change") return { type: "change", position, change: JSON.parse(data) };
  return event === "live" ? { type: "live", event: JSON.parse(data) } : null;
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
