import type { TroupeService } from "@troupe/core";
import { statsWindowMsDefault, statsWindowMsMax, type TeamList } from "@troupe/core/internal";
import type { Hono } from "hono";
import { type HttpEnv, readDuration } from "./input.ts";

/** Routes about the daemon itself: its status, and the agents and teams that it knows in a folder. */
export function addStatusRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  app.get("/api/status", async (context) => context.json(await service.status()));
  app.get("/api/agents/stats", async (context) => {
    const bounds = { otherwise: statsWindowMsDefault, min: 1, max: statsWindowMsMax };
    return context.json(await service.agentStats(readDuration(context, "since", bounds)));
  });
  app.get("/api/agents", async (context) => context.json(await service.agents(context.req.query("workspace") || null)));
  app.get("/api/teams", async (context) => {
    const { teams = [], problems } = await service.agents(context.req.query("workspace") || null);
    return context.json({ teams, problems } satisfies TeamList);
  });
}
