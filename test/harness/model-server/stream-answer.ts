import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Fault } from "@troupe/models";
import { Refusal } from "./refusal.ts";
import type { Frame, Wire } from "./wire.ts";

/** The answer to one request. */
export interface AnswerStream {
  frames: readonly Frame[];
  latencyMs: number;
  fault: Fault | null;
  /** Bytes that go out at once, wherever that cuts; null: a frame at a time. */
  chunkBytes: number | null;
  headers: Record<string, string>;
  signal: AbortSignal;
  /** Told before the head is sent, and before the last of the answer is. */
  on: { head(): void; end(): void };
}

/**
 * Streams frames over the latency until the fault stops them. Resolves when no more will be written; a stalled stream
 * stays open.
 */
export async function streamAnswer(response: ServerResponse, wire: Wire, answer: AnswerStream): Promise<void> {
  const { frames, latencyMs, fault, chunkBytes, signal, on } = answer;
  const startedMs = globalThis.performance.now();
  const until = (share: number): Promise<void> =>
    wait(startedMs + latencyMs * share - globalThis.performance.now(), signal);
  on.head();
  response.writeHead(200, { ...answer.headers, "content-type": "text/event-stream; charset=utf-8" });
  response.flushHeaders();
  const stop = stopOf(fault);
  const sent = stop ? framesBefore(frames, stop.afterPieces) : frames;
  const pieces = frames.filter(({ isPiece }) => isPiece).length;
  let piece = 0;
  for (const each of sent) {
    if (each.isPiece) piece += 1;
    const isLast = each === frames.at(-1);
    await until(isLast ? 1 : each.isPiece ? piece / pieces : 0);
    if (isLast && !response.destroyed) on.end();
    if (!(await write(response, textOf(each), chunkBytes))) return;
  }
  if (stop) return applyFault(response, wire, fault ?? {}, answer);
  response.end();
}

/** Up to so many pieces: never to the end, however few there are. */
function framesBefore(frames: readonly Frame[], pieces: number): readonly Frame[] {
  const places = frames.flatMap(({ isPiece }, at) => (isPiece ? [at] : []));
  const last = places[Math.min(pieces, places.length) - 1];
  return frames.slice(0, last === undefined ? (places[0] ?? 1) : last + 1);
}

/** The position at which a fault ends the stream; null if it does not. */
function stopOf(fault: Fault | null): { afterPieces: number } | null {
  return fault?.stall ?? fault?.halfOpen ?? fault?.cut ?? fault?.streamError ?? null;
}

async function applyFault(
  response: ServerResponse,
  wire: Wire,
  { cut, halfOpen, streamError }: Fault,
  { chunkBytes, on }: AnswerStream,
): Promise<void> {
  if (cut) response.destroy();
  // Not even the other end's goodbye is heard.
  else if (halfOpen) response.socket?.pause();
  else if (streamError) {
    const { status, type = null, message = "the scenario breaks this answer off" } = streamError;
    on.end();
    await write(response, textOf(wire.streamError(new Refusal(status, message, { code: type }))), chunkBytes);
    response.end();
  }
}

function textOf({ event, data }: Frame): string {
  return `${event === null ? "" : `event: ${event}\n`}data: ${data}\n\n`;
}

/** Returns false when the client is gone. */
async function write(response: ServerResponse, text: string, chunkBytes: number | null): Promise<boolean> {
  const bytes = Buffer.from(text);
  const size = chunkBytes ?? bytes.length;
  for (let at = 0; at < bytes.length; at += size) {
    if (response.destroyed) return false;
    await new Promise((resolve) => response.write(bytes.subarray(at, at + size), resolve));
  }
  return !response.destroyed;
}

/** Ends early when the other end is gone. */
export async function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs > 0) await delay(delayMs, undefined, { signal }).catch(() => {});
}
