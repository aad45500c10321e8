import { TroupeError, type TroupeService } from "@troupe/core";
import { CostGrouping } from "@troupe/core/internal";
import type { Context, Hono } from "hono";
import { type HttpEnv, readNumber } from "./input.ts";
import { readSince } from "./since.ts";

/** Routes about the cost and the outcome of many runs. */
export function addCostRoutes(app: Hono<HttpEnv>, { record: { queries } }: TroupeService): void {
  app.get("/api/costs", async (context) => {
    return context.json(await queries.costs({ by: readGrouping(context), sinceMs: readSince(context) }));
  });
  app.get("/api/stats", async (context) => {
    const branches = readNumber(context, "branches", { otherwise: 10, min: 1, max: 100 });
    return context.json(await queries.totals({ sinceMs: readSince(context), branches }));
  });
}

function readGrouping(context: Context<HttpEnv>): CostGrouping {
  const text = context.req.query("by") ?? "agent";
  const parsed = CostGrouping.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new TroupeError("USAGE", `by is ${JSON.stringify(text)}`, {
    fix: `use one of ${CostGrouping.options.join(", ")}`,
  });
}
