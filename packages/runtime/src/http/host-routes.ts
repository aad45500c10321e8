import type { TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import { DrainBody } from "../service/command-bodies.ts";
import { type HttpEnv, readBody } from "./input.ts";
import type { HostList } from "./pages.ts";

/** Routes that list hosts and drain one of them. */
export function addHostRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  app.get("/api/hosts", async (context) => {
    return context.json({ hosts: await service.hosts() } satisfies HostList);
  });
  app.post("/api/hosts/:host/drain", async (context) => {
    const { by } = await readBody(context, DrainBody);
    return context.json(await service.drainHost(context.req.param("host"), by));
  });
}
