import type { TroupeService } from "@troupe/core";
import type { IdMatch, SearchPage } from "@troupe/core/internal";
import type { Hono } from "hono";
import { type HttpEnv, readNumber } from "./input.ts";
import { readSince } from "./since.ts";

/** Routes that find runs and tool calls by their words, and sessions and runs by the beginning of an id. */
export function addSearchRoutes(app: Hono<HttpEnv>, { record: { queries } }: TroupeService): void {
  app.get("/api/search", async (context) => {
    const after = readNumber(context, "after", { otherwise: -1, min: 0, max: Number.MAX_SAFE_INTEGER });
    const page = await queries.search({
      words: context.req.query("q") ?? "",
      sinceMs: readSince(context),
      agent: context.req.query("agent") || null,
      after: after < 0 ? null : after,
      limit: readNumber(context, "limit", { otherwise: 20, min: 1, max: 200 }),
    });
    return context.json(page satisfies SearchPage);
  });
  app.get("/api/ids/:prefix", async (context) => {
    const limit = readNumber(context, "limit", { otherwise: 10, min: 1, max: 100 });
    const matches = await queries.idsWith(context.req.param("prefix"), { limit });
    return context.json({ matches } satisfies { matches: IdMatch[] });
  });
}
