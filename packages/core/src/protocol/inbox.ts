import { z } from "zod";
import { Id } from "./ids.ts";
import { RunRequest, SessionOrigin } from "./request.ts";
import { Version } from "./version.ts";

/**
 * Others' wishes about a session: durable facts that nobody has to be awake for. The first is always the request
 * itself, so that an accepted session survives a stop before any host has taken it.
 */
export const InboxItem = z.discriminatedUnion("kind", [
  z.object({
    v: Version,
    kind: z.literal("session.requested"),
    at: z.int(),
    session: Id,
    request: RunRequest,
    origin: SessionOrigin,
    demo: z.boolean(),
  }),
  z.object({ v: Version, kind: z.literal("session.cancelled"), at: z.int(), session: Id, reason: z.string() }),
  z.object({
    v: Version,
    kind: z.literal("approval.answered"),
    at: z.int(),
    session: Id,
    run: Id,
    approved: z.boolean(),
    by: z.string(),
  }),
]);
export type InboxItem = z.infer<typeof InboxItem>;
