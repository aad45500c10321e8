import { TroupeError, type TroupeService } from "@troupe/core";
import type { SessionArchive } from "@troupe/core/internal";
import type { Hono } from "hono";
import { addRoutes } from "./contract/add-routes.ts";
import { sessionArchiveContract } from "./contract/session-archive-contract.ts";
import type { HttpEnv } from "./input.ts";

/** Routes that import, fork and remove whole sessions. */
export function addSessionArchiveRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  addRoutes(app, sessionArchiveContract, {
    "POST /session-imports": async ({ body }) => await archiveOf(service).import(body.text),
    "POST /sessions/{id}/fork": async ({ params: { id }, body }) => await archiveOf(service).fork(id, body),
    "POST /session-removals": async ({ body }) => await archiveOf(service).remove(body.sessions),
  });
}

function archiveOf({ sessionArchive }: TroupeService): SessionArchive {
  if (sessionArchive) return sessionArchive;
  throw new TroupeError("USAGE", "this process cannot import, fork or remove sessions", { fix: "troupe up" });
}
