import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Redactor, SubmitSession, TroupeError, type TroupeService } from "@troupe/core";
import { type Context, Hono } from "hono";
import { z } from "zod";
import { CancelBody } from "../service/command-bodies.ts";
import { unknown } from "../service/unknown.ts";
import { addApprovalRoutes } from "./approval-routes.ts";
import type { Asset, Assets } from "./assets.ts";
import { createAuth, loginPath } from "./auth.ts";
import type { HttpEnv } from "./env.ts";
import { type ErrorReply, isOurFault, noSuchPath, toErrorReply } from "./errors.ts";
import { openEventStream } from "./event-stream.ts";
import { addHostRoutes } from "./host-routes.ts";
import { readBody, readChangePage, readId, readNumber, wholeNumber } from "./input.ts";
import { cutChangePage, type SessionList } from "./pages.ts";
import { addRunRoutes } from "./run-routes.ts";

export interface HttpAppOptions {
  service: TroupeService;
  token: string;
  /** The port that it is served on. */
  port: number;
  assets: Assets;
  heartbeatMs: number;
  /** Functions that end the open event streams. */
  streams: Set<() => void>;
  /** Takes secrets out of what is said of errors. */
  redact?: Redactor | undefined;
  /** Hears of failures that are the daemon's own. */
  onError(error: unknown): void;
}

/** All routes. Where a request may come from has been checked before it gets here. */
export function createHttpApp(options: HttpAppOptions): Hono<HttpEnv> {
  const { token, port, assets, onError, redact } = options;
  const app = new Hono<HttpEnv>();
  const auth = createAuth(token, port);
  const answer = (context: Context<HttpEnv>, { status, body }: ErrorReply) =>
    context.json(redact?.json(body) ?? body, status);

  app.onError((error, context) => {
    if (isOurFault(error)) onError(error);
    return answer(context, toErrorReply(error));
  });
  app.use("/*", auth.middleware);
  app.post(loginPath, async (context) => {
    auth.logIn(context, (await readBody(context, z.object({ token: z.string() }))).token);
    return context.body(null, 204);
  });
  addSessionRoutes(app, options.service);
  addRunRoutes(app, options.service);
  addApprovalRoutes(app, options.service);
  addHostRoutes(app, options.service);
  addOtherRoutes(app, options);
  app.notFound(async (context) => {
    const asset = await assetFor(context, assets);
    if (asset)
      return context.body(asset.bytes, 200, { "content-type": asset.type, "cache-control": asset.cacheControl });
    return answer(context, noSuchPath(context.req.method, context.req.path));
  });
  return app;
}

function addSessionRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  const { record } = service;

  app.get("/api/sessions", async (context) => {
    const limit = readNumber(context, "limit", { otherwise: 50, min: 1, max: 500 });
    const position = record.position();
    return context.json({ position, sessions: await record.sessions({ limit }) } satisfies SessionList);
  });
  app.post("/api/sessions", async (context) => {
    return context.json(await service.submit(await readBody(context, SubmitSession)), 201);
  });
  app.get("/api/sessions/:id", async (context) => {
    const id = readId(context, "id", "session");
    const detail = await record.session(id);
    if (detail === null) throw unknown("session", id);
    return context.json(detail);
  });
  app.get("/api/sessions/:id/response", async (context) => {
    const id = readId(context, "id", "session");
    const response = await record.response(id);
    if (response !== null) return context.json(response);
    if ((await record.session(id)) === null) throw unknown("session", id);
    throw new TroupeError("CONFLICT", `session ${id} has not settled yet`, { fix: "wait for it, or cancel it" });
  });
  app.get("/api/sessions/:id/changes", async (context) => {
    const session = readId(context, "id", "session");
    const page = readChangePage(context);
    const rows = await record.changes({ session }, page);
    if (rows.length === 0 && (await record.session(session)) === null) throw unknown("session", session);
    return context.json(cutChangePage(rows, rows.length === page.limit));
  });
  app.post("/api/sessions/:id/cancel", async (context) => {
    const id = readId(context, "id", "session");
    const { reason } = await readBody(context, CancelBody);
    return context.json(await service.cancel(id, reason));
  });
}

function addOtherRoutes(app: Hono<HttpEnv>, { service, heartbeatMs, streams }: HttpAppOptions): void {
  app.get("/api/status", async (context) => context.json(await service.status()));
  app.get("/api/agents", async (context) => context.json(await service.agents(context.req.query("workspace") || null)));
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

/** A file, or the page itself for the addresses within it. */
async function assetFor(context: Context<HttpEnv>, assets: Assets): Promise<Asset | null> {
  const { method, path } = context.req;
  if ((method !== "GET" && method !== "HEAD") || path.startsWith("/api/")) return null;
  const asset = await assets.find(path);
  if (asset) return asset;
  const wantsPage = path === "/" || (context.req.header("accept") ?? "").includes("text/html");
  return wantsPage ? await assets.shell() : null;
}
