import { z } from "zod";
import { ApprovalScope } from "./approval.ts";
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
  /** Another turn of a session that has settled. Wishes that came before it are about the turns before it. */
  z.object({
    v: Version,
    kind: z.literal("session.continued"),
    at: z.int(),
    session: Id,
    request: RunRequest,
    origin: SessionOrigin,
    demo: z.boolean(),
  }),
  z.object({ v: Version, kind: z.literal("session.cancelled"), at: z.int(), session: Id, reason: z.string() }),
  /** The run, and every run below it. */
  z.object({ v: Version, kind: z.literal("run.cancelled"), at: z.int(), session: Id, run: Id, reason: z.string() }),
  /** Words for one run's model, given to it at its next step. */
  z.object({
    v: Version,
    kind: z.literal("run.steered"),
    at: z.int(),
    session: Id,
    run: Id,
    text: z.string().min(1),
    by: z.string(),
  }),
  /** The run, and every run below it: nothing new is started until it is resumed. */
  z.object({ v: Version, kind: z.literal("run.paused"), at: z.int(), session: Id, run: Id, by: z.string() }),
  z.object({ v: Version, kind: z.literal("run.resumed"), at: z.int(), session: Id, run: Id, by: z.string() }),
  z.object({
    v: Version,
    kind: z.literal("approval.answered"),
    at: z.int(),
    session: Id,
    run: Id,
    approval: Id,
    approved: z.boolean(),
    scope: ApprovalScope.default("once"),
    reason: z.string().nullable().default(null),
    by: z.string(),
  }),
]);
export type InboxItem = z.infer<typeof InboxItem>;

/** What begins a turn of a session. */
export type TurnRequested = Extract<InboxItem, { kind: "session.requested" | "session.continued" }>;

/** Whether an item asks for a run: that of a session's first turn, or of a further one. */
export function beginsTurn(item: InboxItem): item is TurnRequested {
  return item.kind === "session.requested" || item.kind === "session.continued";
}
