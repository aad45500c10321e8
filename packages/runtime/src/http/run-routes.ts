import type { TroupeService } from "@troupe/core";
import { UndoRequest } from "@troupe/core/internal";
import type { Hono } from "hono";
import { CancelBody, PauseBody, SteerBody } from "../service/command-bodies.ts";
import { notFound } from "../service/lookup.ts";
import { type HttpEnv, readBody, readChangePage, readId, readNumber } from "./input.ts";
import { cutChangePage, cutEntryPage, type UndoList } from "./pages.ts";

/** Routes that read one run and send it commands. */
export function addRunRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  const { record } = service;

  app.get("/api/runs/:run/entries", async (context) => {
    const run = readId(context, "run", "run");
    const from = readNumber(context, "from", { otherwise: 0, min: 0, max: Number.MAX_SAFE_INTEGER });
    const limit = readNumber(context, "limit", { otherwise: 100, min: 1, max: 1_000 });
    const texts = await record.entries(run, { from, limit });
    if (texts.length === 0 && (await record.run(run)) === null) throw notFound("run", run);
    return context.json(cutEntryPage(texts, from, texts.length === limit));
  });
  app.get("/api/runs/:run/changes", async (context) => {
    const run = readId(context, "run", "run");
    const page = readChangePage(context);
    const rows = await record.changes({ run }, page);
    if (rows.length === 0 && (await record.run(run)) === null) throw notFound("run", run);
    return context.json(cutChangePage(rows, rows.length === page.limit));
  });
  app.get("/api/runs/:run/explain", async (context) => {
    return context.json(await service.explain(readId(context, "run", "run")));
  });
  app.post("/api/runs/:run/cancel", async (context) => {
    const run = readId(context, "run", "run");
    const { reason } = await readBody(context, CancelBody);
    return context.json(await service.cancelRun(run, reason));
  });
  app.post("/api/runs/:run/steer", async (context) => {
    const run = readId(context, "run", "run");
    const { text, by } = await readBody(context, SteerBody);
    return context.json(await service.steer(run, text, by));
  });
  app.post("/api/runs/:run/pause", async (context) => {
    const run = readId(context, "run", "run");
    const { by } = await readBody(context, PauseBody);
    return context.json(await service.pause(run, by));
  });
  app.get("/api/runs/:run/undos", async (context) => {
    const run = readId(context, "run", "run");
    const row = await record.run(run);
    if (row === null) throw notFound("run", run);
    const undos = (await record.undos(row.session)).filter((undo) => undo.run === run);
    return context.json({ undos } satisfies UndoList);
  });
  app.post("/api/runs/:run/undo", async (context) => {
    const run = readId(context, "run", "run");
    return context.json(await service.undo(run, await readBody(context, UndoRequest)));
  });
  app.post("/api/runs/:run/resume", async (context) => {
    const run = readId(context, "run", "run");
    const { by } = await readBody(context, PauseBody);
    return context.json(await service.resume(run, by));
  });
}
