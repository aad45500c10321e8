import type { TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import { DrainBody } from "../service/command-bodies.ts";
import type { HttpEnv } from "./env.ts";
import { readBody } from "./input.ts";
import type { HostList } from "./pages.ts";

/** Who runs agents, on this machine and on others, and how one of them is told to leave. */
export function addHostRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  app.get("/api/hosts", async (context) => {
    return context.json({ hosts: await service.hosts() } satisfies HostList);
  });
  app.post("/api/hosts/:host/drain", async (context) => {
    const { by } = await readBody(context, DrainBody);
    return context.json(await service.drainHost(context.req.param("host"), by));
  });
}
