import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type LiveEvent, TroupeError, type TroupeService } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import type { Context, Hono } from "hono";
import { addRoutes } from "./contract/add-routes.ts";
import { eventContract } from "./contract/event-contract.ts";
import type { HttpEnv } from "./input.ts";
import { formatFrame, formatHeartbeat } from "./sse.ts";

export interface EventRouteOptions {
  service: TroupeService;
  heartbeatMs: number;
  /** Functions that end the open event streams. Each stream adds its own and removes it when it closes. */
  streams: Set<() => void>;
}

/** The route that streams changes and live events as server-sent events. */
export function addEventRoutes(app: Hono<HttpEnv>, { service, heartbeatMs, streams }: EventRouteOptions): void {
  addRoutes(app, eventContract, {
    "GET /events": async ({ query }, context) => {
      const { outgoing } = context.env;
      if (context.req.method === "HEAD") return context.body(null, 200, { "content-type": "text/event-stream" });
      const after = positionIn(context) ?? query.after ?? null;
      const session = query.session || null;
      const end = await openEventStream({ service, outgoing, after, session, heartbeatMs });
      if (!outgoing.destroyed) streams.add(end);
      outgoing.once("close", () => streams.delete(end));
      return RESPONSE_ALREADY_SENT;
    },
  });
}

/** The position in the header of a browser that reconnects. It is newer than the one in the address. */
function positionIn(context: Context<HttpEnv>): number | null {
  const text = context.req.header("last-event-id") || null;
  if (text === null) return null;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new TroupeError("USAGE", `Last-Event-ID is ${JSON.stringify(text)}`, {
    fix: "send the id of the last event, or omit the header",
  });
}

export interface EventStreamOptions {
  service: TroupeService;
  /** Node's response. Only it knows how many bytes the client has not read yet. */
  outgoing: ServerResponse;
  /** The position that the client has; null to start from now. */
  after: number | null;
  /** Only events of this session; null for all sessions. */
  session: string | null;
  heartbeatMs: number;
}

/** Unread bytes after which a client gets no live events, and after which its stream ends. */
export const backlogBytesMax = { live: 32 * 1024, stream: 256 * 1024 };

/** The most changes that can arrive while the missed ones are read from the record. */
const waitingMax = 1_000;

/**
 * Streams the record's changes after a position, then new ones, without gap or repeat, with live events in between.
 * Resolves to a function that ends the stream. Rejects, with nothing sent, if the record cannot be read.
 *
 * Invariants. E1: `position` is the position of the last change that was sent or skipped. E2: each change is handled
 * once, in order. E3: unread bytes are bounded: live events are dropped first, then the stream ends and the client
 * reconnects with its position.
 */
export async function openEventStream(options: EventStreamOptions): Promise<() => void> {
  const { service, outgoing, session } = options;
  const { record } = service;
  const writer = createWriter(outgoing);
  let position = options.after ?? record.position();
  // New changes wait here until the missed ones are sent; null after that.
  let waiting: RecordChange[] | null = [];

  const send = (change: RecordChange): void => {
    if (change.position <= position) return;
    position = change.position;
    const frame = frameOf(change, session);
    // A change that is over the bound by itself would end every stream, so the client reloads instead.
    if (frame !== null && !writer.change(frame)) resync(position);
  };
  const resync = (toPosition: number): void => {
    position = toPosition;
    writer.change(Buffer.from(formatFrame("resync", { position }, position)));
  };
  const onChange = (change: RecordChange): void => {
    if (waiting === null) send(change);
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
    else if (missed !== null) send(missed);
    const late = waiting;
    waiting = null;
    for (const change of late) send(change);
    // A client that starts from now learns its position, so that it can reconnect from there.
    beat();
    return writer.end;
  } catch (error) {
    stopAll();
    throw error;
  }
}

/** A position beyond the record's belongs to a record that was deleted and rebuilt: the client must reload. */
async function changesAfter({ record }: TroupeService, after: number): Promise<RecordChange | "too_many"> {
  if (after > record.position()) return "too_many";
  return (await record.changesSince(after)) ?? "too_many";
}

const frames = new WeakMap<RecordChange, Map<string | null, Buffer | null>>();

/** The frame of a change, or null if the change does not concern the session. All streams share one frame. */
function frameOf(change: RecordChange, session: string | null): Buffer | null {
  const bySession = frames.get(change) ?? new Map<string | null, Buffer | null>();
  frames.set(change, bySession);
  const known = bySession.get(session);
  if (known !== undefined) return known;
  const narrowed = narrow(change, session);
  const isEmpty = narrowed.sessions.length + narrowed.runs.length + narrowed.approvals.length === 0;
  const frame = isEmpty ? null : Buffer.from(formatFrame("change", narrowed, change.position));
  bySession.set(session, frame);
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
  /** Returns false, and writes nothing, if the frame is larger than the bound of a stream. */
  change(frame: Buffer): boolean;
  /** Drops the frame if the client reads too slowly. */
  live(frame: string): void;
  end(): void;
}

function createWriter(outgoing: ServerResponse): Writer {
  const end = (): void => {
    // `end` would wait forever for a client that has stopped reading.
    if (outgoing.writableLength > 0) outgoing.destroy();
    else outgoing.end();
  };
  const isClosed = (): boolean => outgoing.destroyed || outgoing.writableEnded;

  return {
    open() {
      if (isClosed()) return;
      outgoing.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      outgoing.flushHeaders();
    },
    change(frame) {
      if (frame.length > backlogBytesMax.stream) return false;
      if (isClosed()) return true;
      if (outgoing.writableLength + frame.length > backlogBytesMax.stream) outgoing.destroy();
      else outgoing.write(frame);
      return true;
    },
    live(frame) {
      if (!isClosed() && outgoing.writableLength <= backlogBytesMax.live) outgoing.write(frame);
    },
    end,
  };
}
