import { z } from "zod";

/** What a run and all runs below it may use together. `null` is no limit of this kind. */
export const Budget = z.object({
  tokens: z.int().nonnegative().nullable().default(null),
  costUsd: z.number().nonnegative().nullable().default(null),
  toolCalls: z.int().nonnegative().nullable().default(null),
  /** Runs that may be started below this one, retries included. */
  spawns: z.int().nonnegative().nullable().default(null),
});
export type Budget = z.infer<typeof Budget>;

/** Some of the limits: one that is left out stays left out. */
export const PartialBudget = z.object({
  tokens: z.int().positive().exactOptional(),
  costUsd: z.number().positive().exactOptional(),
  toolCalls: z.int().nonnegative().exactOptional(),
  spawns: z.int().nonnegative().exactOptional(),
});
export type PartialBudget = z.infer<typeof PartialBudget>;

/** What was used, and what has to be taken as used because nobody can know. `costUsd` is null for an unknown price. */
export const Spent = z.object({
  tokens: z.int().nonnegative(),
  costUsd: z.number().nonnegative().nullable(),
  toolCalls: z.int().nonnegative(),
  spawns: z.int().nonnegative(),
});
export type Spent = z.infer<typeof Spent>;
