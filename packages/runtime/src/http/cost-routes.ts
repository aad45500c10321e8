import type { TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import { addRoutes } from "./contract/add-routes.ts";
import { costContract } from "./contract/cost-contract.ts";
import type { HttpEnv } from "./input.ts";

/** Routes about the cost and the outcome of many runs. */
export function addCostRoutes(app: Hono<HttpEnv>, { record }: TroupeService): void {
  addRoutes(app, costContract, {
    "GET /costs": async ({ query: { by, since = null } }) => await record.queries.costs({ by, sinceMs: since }),
    "GET /stats": async ({ query: { since = null, branches } }) =>
      await record.queries.totals({ sinceMs: since, branches }),
  });
}
