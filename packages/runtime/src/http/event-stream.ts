import type { ServerResponse } from "node:http";
import type { LiveEvent, TroupeService } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import { formatFrame, formatHeartbeat } from "./sse.ts";

export interface EventStreamOptions {
  service: TroupeService;
  /** Node's response: only it knows how much the client has not read yet. */
  outgoing: ServerResponse;
  /** Position that the client has; null to start from now. */
  after: number | null;
  /** Only this session, or everything. */
  session: string | null;
  heartbeatMs: number;
}

/** Bytes that one client may leave unread before live events are dropped for it, and before its stream ends. */
export const backlogBytesMax = { live: 32 * 1024, stream: 256 * 1024 };

/** Changes that may come while the ones before them are looked up. */
const waitingMax = 1_000;

/**
 * Writes the record's changes after a position, then new ones as they come, with neither gap nor repeat, and live
 * events between them. Resolves with a function that ends the stream, once it runs; rejects, with nothing sent, when
 * the record cannot be read.
 *
 * Invariants. E1: `position` is that of the last change that the client has, or does not need. E2: a change is looked
 * at once, in order. E3: what the client has not read is bounded: live events give way first, then the stream ends,
 * and the client comes back with the position it has.
 */
export async function openEventStream(options: EventStreamOptions): Promise<() => void> {
  const { service, outgoing, session } = options;
  const { record } = service;
  const writer = createWriter(outgoing);
  let position = options.after ?? record.position();
  // Null once what was missed has been written; until then, what comes has to wait.
  let waiting: RecordChange[] | null = [];

  const pass = (change: RecordChange): void => {
    if (change.position <= position) return;
    position = change.position;
    const frame = frameOf(change, session);
    // What alone is over the bound would end every stream that meets it.
    if (frame !== null && !writer.change(frame)) resync(position);
  };
  const resync = (at: number): void => {
    position = at;
    writer.change(Buffer.from(formatFrame("resync", { position }, position)));
  };
  const onChange = (change: RecordChange): void => {
    if (waiting === null) pass(change);
    else if (waiting.push(change) > waitingMax) outgoing.destroy();
  };
  const onLive = (event: LiveEvent): void => {
    if (waiting === null && (session === null || event.session === session)) writer.live(formatFrame("live", event));
  };

  const beat = (): void => {
    if (waiting === null) writer.live(formatHeartbeat(position));
  };

  const heartbeat = setInterval(beat, options.heartbeatMs);
  const stops = [record.onChange(onChange), service.onLive(onLive), () => clearInterval(heartbeat)];
  const stopAll = (): void => {
    for (const stop of stops) stop();
  };
  outgoing.once("close", stopAll);
  try {
    const missed = options.after === null ? null : await changesAfter(service, options.after);
    writer.open();
    if (missed === "too_many") resync(record.position());
    else if (missed !== null) pass(missed);
    const late = waiting;
    waiting = null;
    for (const change of late) pass(change);
    // Tells a reader that starts from now where that is, so that it can come back to it.
    beat();
    return writer.end;
  } catch (error) {
    stopAll();
    throw error;
  }
}

/** A position that the record has not reached belongs to another life of it: nothing can be told apart by it. */
async function changesAfter({ record }: TroupeService, after: number): Promise<RecordChange | "too_many"> {
  if (after > record.position()) return "too_many";
  return (await record.changesSince(after)) ?? "too_many";
}

const frames = new WeakMap<RecordChange, Map<string | null, Buffer | null>>();

/** The bytes of a change, or null when it has nothing of the session: made once, and shared by all who wait for them. */
function frameOf(change: RecordChange, session: string | null): Buffer | null {
  const made = frames.get(change) ?? new Map<string | null, Buffer | null>();
  frames.set(change, made);
  const known = made.get(session);
  if (known !== undefined) return known;
  const seen = narrow(change, session);
  const isEmpty = seen.sessions.length + seen.runs.length + seen.approvals.length === 0;
  const frame = isEmpty ? null : Buffer.from(formatFrame("change", seen, change.position));
  made.set(session, frame);
  return frame;
}

function narrow(change: RecordChange, session: string | null): RecordChange {
  if (session === null) return change;
  return {
    position: change.position,
    sessions: change.sessions.filter((row) => row.session === session),
    runs: change.runs.filter((row) => row.session === session),
    approvals: change.approvals.filter((row) => row.session === session),
  };
}

interface Writer {
  open(): void;
  /** False when the frame is larger than any stream may hold; nothing was written then. */
  change(frame: Buffer): boolean;
  /** May drop the frame. */
  live(frame: string): void;
  end(): void;
}

function createWriter(outgoing: ServerResponse): Writer {
  const end = (): void => {
    // A client that has stopped reading would keep a polite end waiting for ever.
    if (outgoing.writableLength > 0) outgoing.destroy();
    else outgoing.end();
  };
  const isOver = (): boolean => outgoing.destroyed || outgoing.writableEnded;

  return {
    open() {
      if (isOver()) return;
      outgoing.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      outgoing.flushHeaders();
    },
    change(frame) {
      if (frame.length > backlogBytesMax.stream) return false;
      if (isOver()) return true;
      if (outgoing.writableLength + frame.length > backlogBytesMax.stream) outgoing.destroy();
      else outgoing.write(frame);
      return true;
    },
    live(frame) {
      if (!isOver() && outgoing.writableLength <= backlogBytesMax.live) outgoing.write(frame);
    },
    end,
  };
}
