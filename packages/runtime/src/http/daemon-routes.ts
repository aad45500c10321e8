import type { TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import type { Auth } from "./auth.ts";
import { addRoutes } from "./contract/add-routes.ts";
import { daemonContract } from "./contract/daemon-contract.ts";
import type { HttpEnv } from "./input.ts";

/** Routes about the daemon: login, status, and the agents, teams and hosts that it knows. */
export function addDaemonRoutes(app: Hono<HttpEnv>, service: TroupeService, auth: Auth): void {
  addRoutes(app, daemonContract, {
    "POST /login": async ({ body }, context) => {
      auth.logIn(context, body.token);
      return null;
    },
    "GET /openapi.json": async (_, context) => {
      const { openApiText } = await import("./contract/openapi.ts");
      return context.body(await openApiText(), { headers: { "content-type": "application/json" } });
    },
    "GET /status": async () => await service.status(),
    "GET /agents": async ({ query }) => await service.agents(query.workspace || null),
    "GET /agents/stats": async ({ query }) => await service.agentStats(query.since),
    "GET /teams": async ({ query }) => {
      const { teams = [], problems } = await service.agents(query.workspace || null);
      return { teams, problems };
    },
    "GET /hosts": async () => ({ hosts: await service.hosts() }),
    "POST /hosts/{host}/drain": async ({ params: { host }, body }) => await service.drainHost(host, body.by),
  });
}
