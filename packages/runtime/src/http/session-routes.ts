import { SubmitSession, TroupeError, type TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import { CancelBody } from "../service/command-bodies.ts";
import { notFound } from "../service/lookup.ts";
import { type HttpEnv, readBody, readChangePage, readId, readNumber } from "./input.ts";
import { cutChangePage, type SessionList } from "./pages.ts";

/** Routes that submit, read and cancel sessions. */
export function addSessionRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
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
    if (detail === null) throw notFound("session", id);
    return context.json(detail);
  });
  app.get("/api/sessions/:id/response", async (context) => {
    const id = readId(context, "id", "session");
    const response = await record.response(id);
    if (response !== null) return context.json(response);
    if ((await record.session(id)) === null) throw notFound("session", id);
    throw new TroupeError("CONFLICT", `session ${id} has not settled yet`, { fix: "wait for it, or cancel it" });
  });
  app.get("/api/sessions/:id/changes", async (context) => {
    const session = readId(context, "id", "session");
    const page = readChangePage(context);
    const rows = await record.changes({ session }, page);
    if (rows.length === 0 && (await record.session(session)) === null) throw notFound("session", session);
    return context.json(cutChangePage(rows, rows.length === page.limit));
  });
  app.get("/api/sessions/:id/timeline", async (context) => {
    const id = readId(context, "id", "session");
    const after = readNumber(context, "after", { otherwise: 0, min: 0, max: Number.MAX_SAFE_INTEGER });
    const limit = readNumber(context, "limit", { otherwise: 2_000, min: 1, max: 10_000 });
    const page = await record.timeline(id, { after, limit });
    if (page.events.length === 0 && (await record.session(id)) === null) throw notFound("session", id);
    return context.json(page);
  });
  app.post("/api/sessions/:id/cancel", async (context) => {
    const id = readId(context, "id", "session");
    const { reason } = await readBody(context, CancelBody);
    return context.json(await service.cancel(id, reason));
  });
}
