import type { TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import { notFound } from "../service/lookup.ts";
import { addRoutes } from "./contract/add-routes.ts";
import { runContract } from "./contract/run-contract.ts";
import type { HttpEnv } from "./input.ts";
import { cutChangePage, cutEntryPage } from "./pages.ts";

/** Routes that read one run and send it commands. */
export function addRunRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  const { record } = service;

  addRoutes(app, runContract, {
    "GET /runs/{run}/entries": async ({ params: { run }, query: { from, limit } }, context) => {
      const texts = await record.entries(run, { from, limit });
      if (texts.length === 0 && (await record.run(run)) === null) throw notFound("run", run);
      return context.json(cutEntryPage(texts, from, texts.length === limit));
    },
    "GET /runs/{run}/changes": async ({ params: { run }, query }) => {
      const rows = await record.changes({ run }, query);
      if (rows.length === 0 && (await record.run(run)) === null) throw notFound("run", run);
      return cutChangePage(rows, rows.length === query.limit);
    },
    "GET /runs/{run}/explain": async ({ params: { run } }) => await service.explain(run),
    "GET /runs/{run}/undos": async ({ params: { run } }) => {
      const row = await record.run(run);
      if (row === null) throw notFound("run", run);
      return { undos: (await record.undos(row.session)).filter((undo) => undo.run === run) };
    },
    "POST /runs/{run}/undo": async ({ params: { run }, body }) => await service.undo(run, body),
    "POST /runs/{run}/cancel": async ({ params: { run }, body }) => await service.cancelRun(run, body.reason),
    "POST /runs/{run}/steer": async ({ params: { run }, body }) => await service.steer(run, body.text, body.by),
    "POST /runs/{run}/pause": async ({ params: { run }, body }) => await service.pause(run, body.by),
    "POST /runs/{run}/resume": async ({ params: { run }, body }) => await service.resume(run, body.by),
  });
}
