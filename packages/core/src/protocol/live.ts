import { z } from "zod";
import { Id, Token } from "./ids.ts";
import { RunResponse } from "./response.ts";
import { RunErrorType } from "./run-error.ts";
import { Version } from "./version.ts";

/** What is worth seeing while it happens and worth nothing afterwards. Never stored, may be lost. */
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
  z.object({ v: Version, kind: z.literal("run.claimed"), session: Id, run: Id, agent: Token }),
  /** The model turned the call away, or its answer was lost; it is asked again by itself. */
  z.object({
    v: Version,
    kind: z.literal("model.retrying"),
    session: Id,
    run: Id,
    agent: Token,
    /** Why: the type of the failure, and its words. */
    type: RunErrorType,
    message: z.string(),
    waitMs: z.number().nonnegative(),
    /** The request that failed, counted from 1, of at most so many; null: it is asked for as long as it asks to wait. */
    tries: z.int().positive(),
    triesMax: z.int().positive().nullable(),
  }),
  /** The run's clock was stopped, because it or a run below it waits for a person; or it goes on. */
  z.object({ v: Version, kind: z.literal("run.waiting"), session: Id, run: Id, agent: Token, waiting: z.boolean() }),
]);
export type LiveEvent = z.infer<typeof LiveEvent>;

/** A run's one response, sent to whoever waits. The journal is the fallback. */
export const SettledMessage = z.object({
  v: Version,
  kind: z.literal("run.settled"),
  session: Id,
  run: Id,
  /** Null when it is too large for a message: it is in the journal. */
  response: RunResponse.nullable(),
});
export type SettledMessage = z.infer<typeof SettledMessage>;
