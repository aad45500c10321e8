import { z } from "zod";
import { startAfter } from "./query.ts";
import { defineRoutes } from "./route.ts";

/** The stream of events. */
export const eventContract = defineRoutes({
  "GET /events": {
    operation: "followEvents",
    summary: "Changes of the record and live events, as server-sent events",
    description:
      "`change` has the id of its position and a `RecordChange` as data. `live` has no id and a `LiveEvent` as data, and " +
      "can be lost. `resync` says that too much has changed: load everything again, then go on. A comment every 15 s is a " +
      "heartbeat. The stream starts after the header `Last-Event-ID`, else after `after`, else now.",
    query: z.object({
      after: startAfter("The position to start after."),
      session: z.string().optional().meta({ description: "Only events of the session with this id.", format: "uuid" }),
    }),
    reply: z.string(),
    media: "text/event-stream",
    alias: true,
  },
});
