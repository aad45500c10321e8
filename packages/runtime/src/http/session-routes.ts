import { TroupeError, type TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import { notFound } from "../service/lookup.ts";
import { addRoutes } from "./contract/add-routes.ts";
import { sessionContract } from "./contract/session-contract.ts";
import type { HttpEnv } from "./input.ts";
import { cutChangePage } from "./pages.ts";
import { cutSessionPage } from "./session-page.ts";

/** Routes that submit, read and cancel sessions. */
export function addSessionRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  const { record } = service;

  addRoutes(app, sessionContract, {
    "GET /sessions": async ({ query }) => {
      const position = record.position();
      return { position, sessions: await record.sessions(query) };
    },
    "POST /sessions": async ({ body }) => await service.submit(body),
    "GET /sessions/{id}": async ({ params: { id }, query: { after } }) => {
      const detail = await record.session(id);
      if (detail === null) throw notFound("session", id);
      return cutSessionPage(detail, after);
    },
    "GET /sessions/{id}/response": async ({ params: { id } }) => {
      const response = await record.response(id);
      if (response !== null) return response;
      if ((await record.session(id)) === null) throw notFound("session", id);
      throw new TroupeError("CONFLICT", `session ${id} has not settled yet`, { fix: "wait for it, or cancel it" });
    },
    "GET /sessions/{id}/changes": async ({ params: { id }, query }) => {
      const rows = await record.changes({ session: id }, query);
      if (rows.length === 0 && (await record.session(id)) === null) throw notFound("session", id);
      return cutChangePage(rows, rows.length === query.limit);
    },
    "GET /sessions/{id}/timeline": async ({ params: { id }, query }) => {
      const page = await record.timeline(id, query);
      if (page.events.length === 0 && (await record.session(id)) === null) throw notFound("session", id);
      return page;
    },
    "POST /sessions/{id}/cancel": async ({ params: { id }, body }) => await service.cancel(id, body.reason),
  });
}
