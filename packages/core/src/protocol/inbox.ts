import { z } from "zod";
import { ApprovalScope } from "./approval.ts";
import { Version } from "./codec.ts";
import { ForkedFrom } from "./forked-from.ts";
import { Id, Token } from "./ids.ts";
import { RunRequest, SessionOrigin } from "./request.ts";
import { UndoneFile, UndoResult } from "./undo.ts";

/**
 * Requests and commands for a session. They are durable, so no host has to run when they arrive. The first item is always
 * the session's request: an accepted session survives a stop before any host takes it.
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
    /** The team of the agent, for displays. Absent: none. */
    team: Token.exactOptional(),
    /** The session that this one begins with a copy of. Absent: none. */
    forkedFrom: ForkedFrom.exactOptional(),
  }),
  /** Another turn of a settled session. Commands before it belong to earlier turns. */
  z.object({
    v: Version,
    kind: z.literal("session.continued"),
    at: z.int(),
    session: Id,
    request: RunRequest,
    origin: SessionOrigin,
    demo: z.boolean(),
    /** The team of the agent, for displays. Absent: none. */
    team: Token.exactOptional(),
  }),
  z.object({ v: Version, kind: z.literal("session.cancelled"), at: z.int(), session: Id, reason: z.string() }),
  /** Cancels the run and every run below it. */
  z.object({ v: Version, kind: z.literal("run.cancelled"), at: z.int(), session: Id, run: Id, reason: z.string() }),
  /** A message for the run's model at its next step. */
  z.object({
    v: Version,
    kind: z.literal("run.steered"),
    at: z.int(),
    session: Id,
    run: Id,
    text: z.string().min(1),
    by: z.string(),
  }),
  /** Pauses the run and every run below it: nothing new starts until it is resumed. */
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
  /** A person undoes file changes of a run and of the runs below it. It is stored before the first file changes. */
  z.object({
    v: Version,
    kind: z.literal("undo.planned"),
    at: z.int(),
    session: Id,
    run: Id,
    undo: Id,
    by: z.string(),
    /** The first step that is undone; null for all. */
    step: z.int().nullable().default(null),
    /** The undo that is undone itself. Absent: the changes of the run are undone. */
    redoes: Id.exactOptional(),
    files: z.array(UndoneFile),
  }),
  /** The result of a planned undo. Without it, the undo was interrupted. */
  z.object({
    v: Version,
    kind: z.literal("undo.finished"),
    at: z.int(),
    session: Id,
    run: Id,
    undo: Id,
    files: z.array(UndoResult),
  }),
]);
export type InboxItem = z.infer<typeof InboxItem>;

/** The items that begin a turn of a session. */
export type TurnRequested = Extract<InboxItem, { kind: "session.requested" | "session.continued" }>;

/** The plan of an undo. */
export type UndoPlanned = Extract<InboxItem, { kind: "undo.planned" }>;

/** Whether an item begins a turn, the first or a later one. */
export function beginsTurn(item: InboxItem): item is TurnRequested {
  return item.kind === "session.requested" || item.kind === "session.continued";
}
