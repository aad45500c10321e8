import { z } from "zod";
import { Version } from "./codec.ts";
import { Id, Token } from "./ids.ts";
import { RunResponse } from "./response.ts";
import { RunErrorType } from "./run-error.ts";
import { TraceEvent } from "./trace-event.ts";

/** Events for live displays. They are never stored and may be lost. */
export const LiveEvent = z.discriminatedUnion("kind", [
  z.object({
    v: Version,
    kind: z.literal("state.entered"),
    session: Id,
    run: Id,
    agent: Token,
    state: z.string(),
    step: z.int(),
  }),
  z.object({ v: Version, kind: z.literal("text.delta"), session: Id, run: Id, agent: Token, text: z.string() }),
  z.object({
    v: Version,
    kind: z.literal("tool.started"),
    session: Id,
    run: Id,
    agent: Token,
    tool: z.string(),
    detail: z.string(),
  }),
  /** A tool call has its outcome. */
  z.object({
    v: Version,
    kind: z.literal("tool.finished"),
    session: Id,
    run: Id,
    agent: Token,
    tool: z.string(),
    /** Its first text argument. */
    detail: z.string(),
    durationMs: z.number().nonnegative(),
    ok: z.boolean(),
    /** The end in a few words, such as `exit 0`, or the type of its error. Empty: it worked, and has no more to say. */
    result: z.string(),
  }),
  z.object({ v: Version, kind: z.literal("run.claimed"), session: Id, run: Id, agent: Token }),
  /** The model call failed in a temporary way and will be repeated. */
  z.object({
    v: Version,
    kind: z.literal("model.retrying"),
    session: Id,
    run: Id,
    agent: Token,
    /** Type and message of the failure. */
    type: RunErrorType,
    message: z.string(),
    waitMs: z.number().nonnegative(),
    /** Number of the failed request, from 1. */
    tries: z.int().positive(),
    /** The most requests for this turn; null means no limit while the provider asks to wait. */
    triesMax: z.int().positive().nullable(),
  }),
  /** An event of the trace, whose entry is durable. */
  z.object({ v: Version, kind: z.literal("trace.event"), session: Id, run: Id, agent: Token, event: TraceEvent }),
  /** A call waits until its host has enough free space on a disk, or goes on. */
  z.object({
    v: Version,
    kind: z.literal("disk.waiting"),
    session: Id,
    run: Id,
    agent: Token,
    waiting: z.boolean(),
    /** The folder, the free space, the limit and what to do. Empty when the call goes on. */
    message: z.string(),
  }),
  /** The run's clock stopped, because it or a run below it waits for a person; or the clock runs again. */
  z.object({ v: Version, kind: z.literal("run.waiting"), session: Id, run: Id, agent: Token, waiting: z.boolean() }),
]);
export type LiveEvent = z.infer<typeof LiveEvent>;

/** The response of a run, for its parent or caller. The journal is the fallback. */
export const SettledMessage = z.object({
  v: Version,
  kind: z.literal("run.settled"),
  session: Id,
  run: Id,
  /** Null if it is too large for a message. Then read it from the journal. */
  response: RunResponse.nullable(),
});
export type SettledMessage = z.infer<typeof SettledMessage>;
