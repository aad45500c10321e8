import { z } from "zod";
import { ForkedFrom } from "./forked-from.ts";
import { Id } from "./ids.ts";

/** The result of an import. `known`: the home has exactly this session already, and nothing changed. */
export const SessionImported = z.object({
  session: Id,
  outcome: z.enum(["imported", "known"]),
  runs: z.int().nonnegative(),
  /** Entries and inbox items. */
  items: z.int().nonnegative(),
  blobs: z.int().nonnegative(),
});
export type SessionImported = z.infer<typeof SessionImported>;

/** Where to fork, and the message that the new session reads before its next model call. */
export const ForkRequest = z.object({
  run: Id,
  step: z.int().nonnegative(),
  task: z.string().min(1).nullable().default(null),
  by: z.string().max(200).default("a person"),
});
export type ForkRequest = z.infer<typeof ForkRequest>;

/** A new session that begins with a copy of another one. */
export const SessionForked = z.object({
  session: Id,
  /** The first run of its newest turn. */
  run: Id,
  from: ForkedFrom,
  /** Entries that were taken from the original. */
  entries: z.int().nonnegative(),
});
export type SessionForked = z.infer<typeof SessionForked>;

export const SessionsToRemove = z.object({ sessions: z.array(Id).min(1).max(1_000) });

/** The result of a removal. A session that has not settled is kept. */
export const SessionsRemoved = z.object({
  removed: z.array(Id),
  kept: z.array(z.object({ session: Id, why: z.string() })),
  /** Blobs that no other session has. */
  blobs: z.int().nonnegative(),
});
export type SessionsRemoved = z.infer<typeof SessionsRemoved>;
