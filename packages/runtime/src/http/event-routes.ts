import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import { openEventStream } from "./event-stream.ts";
import { type HttpEnv, wholeNumber } from "./input.ts";

export interface EventRouteOptions {
  service: TroupeService;
  heartbeatMs: number;
  /** Functions that end the open event streams. Each stream adds its own and removes it when it closes. */
  streams: Set<() => void>;
}

/** The route that streams changes and live events as server-sent events. */
export function addEventRoutes(app: Hono<HttpEnv>, { service, heartbeatMs, streams }: EventRouteOptions): void {
  app.get("/api/events", async (context) => {
    const { outgoing } = context.env;
    if (context.req.method === "HEAD") return context.body(null, 200, { "content-type": "text/event-stream" });
    const text = context.req.header("last-event-id") || context.req.query("after");
    const after = text === undefined ? null : wholeNumber("the position", text, 0, Number.MAX_SAFE_INTEGER);
    const session = context.req.query("session") || null;
    const end = await openEventStream({ service, outgoing, after, session, heartbeatMs });
    if (!outgoing.destroyed) streams.add(end);
    outgoing.once("close", () => streams.delete(end));
    return RESPONSE_ALREADY_SENT;
  });
}
