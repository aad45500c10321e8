import { ForkRequest, SessionForked, SessionImported, SessionsRemoved, SessionsToRemove } from "@troupe/core/internal";
import { z } from "zod";
import { defineRoutes } from "./route.ts";

/** The largest export in one request. A larger one is imported while no daemon runs. */
const importBytesMax = 128 * 1024 * 1024;

/** Routes that import, fork and remove whole sessions. */
export const sessionArchiveContract = defineRoutes({
  "POST /session-imports": {
    operation: "importSession",
    summary: "Stores an exported session; an import of the same session again changes nothing",
    body: z.object({ text: z.string().meta({ description: "The whole text of the file." }) }),
    bodyBytesMax: importBytesMax,
    reply: SessionImported,
    errors: ["INVALID_EXPORT", "CONFLICT"],
    alias: true,
  },
  "POST /sessions/{id}/fork": {
    operation: "forkSession",
    summary: "Starts a session with the finished part of another one",
    params: { id: "session" },
    body: ForkRequest,
    reply: SessionForked,
    alias: true,
  },
  "POST /session-removals": {
    operation: "removeSessions",
    summary: "Deletes settled sessions and all that belongs to them alone",
    description: "A session that works or waits is kept, and `kept` says why.",
    body: SessionsToRemove,
    reply: SessionsRemoved,
    alias: true,
  },
});
