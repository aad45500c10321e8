import { TroupeError, type TroupeService } from "@troupe/core";
import { ForkRequest, type SessionArchive, SessionsToRemove } from "@troupe/core/internal";
import type { Hono } from "hono";
import { z } from "zod";
import { type HttpEnv, readBody, readParam } from "./input.ts";

/** The largest export in one request. A larger one is imported while no daemon runs. */
const importBytesMax = 128 * 1024 * 1024;

const SessionImport = z.object({ text: z.string() });

/** Routes that import, fork and remove whole sessions. */
export function addSessionArchiveRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  app.post("/api/session-imports", async (context) => {
    const { text } = await readBody(context, SessionImport, { bodyBytesMax: importBytesMax });
    return context.json(await archiveOf(service).import(text));
  });
  app.post("/api/sessions/:id/fork", async (context) => {
    const session = readParam(context, "id", "session");
    return context.json(await archiveOf(service).fork(session, await readBody(context, ForkRequest)));
  });
  app.post("/api/session-removals", async (context) => {
    const { sessions } = await readBody(context, SessionsToRemove);
    return context.json(await archiveOf(service).remove(sessions));
  });
}

function archiveOf({ sessionArchive }: TroupeService): SessionArchive {
  if (sessionArchive) return sessionArchive;
  throw new TroupeError("USAGE", "this process cannot import, fork or remove sessions", { fix: "troupe up" });
}
