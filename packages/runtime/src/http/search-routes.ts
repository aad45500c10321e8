import type { TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import { addRoutes } from "./contract/add-routes.ts";
import { searchContract } from "./contract/search-contract.ts";
import type { HttpEnv } from "./input.ts";

/** Routes that find runs and tool calls by their words, and sessions and runs by the beginning of an id. */
export function addSearchRoutes(app: Hono<HttpEnv>, { record }: TroupeService): void {
  addRoutes(app, searchContract, {
    "GET /search": async ({ query: { q, since = null, agent, after = null, limit } }) =>
      await record.queries.search({ words: q, sinceMs: since, agent: agent || null, after, limit }),
    "GET /ids/{prefix}": async ({ params: { prefix }, query }) => ({
      matches: await record.queries.idsWith(prefix, query),
    }),
  });
}
