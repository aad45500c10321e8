import { z } from "zod";

/**
 * Limits for a run and all runs below it together. `null` means no limit.
 *
 * @example
 * Budget.parse({ costUsd: 2 }); // { tokens: null, costUsd: 2, toolCalls: null, spawns: null }
 */
export const Budget = z.object({
  tokens: z.int().nonnegative().nullable().default(null),
  costUsd: z.number().nonnegative().nullable().default(null),
  toolCalls: z.int().nonnegative().nullable().default(null),
  /** Runs that may be started below this one, retries included. */
  spawns: z.int().nonnegative().nullable().default(null),
});
export type Budget = z.infer<typeof Budget>;

/** A budget with some limits. Absent keys stay absent. */
export const PartialBudget = z.object({
  tokens: z.int().positive().exactOptional(),
  costUsd: z.number().positive().exactOptional(),
  toolCalls: z.int().nonnegative().exactOptional(),
  spawns: z.int().nonnegative().exactOptional(),
});
export type PartialBudget = z.infer<typeof PartialBudget>;

/** Charged usage: the known usage, and reserves of calls whose usage is unknown. `costUsd` is null for an unknown price. */
export const Spent = z.object({
  tokens: z.int().nonnegative(),
  costUsd: z.number().nonnegative().nullable(),
  toolCalls: z.int().nonnegative(),
  spawns: z.int().nonnegative(),
});
export type Spent = z.infer<typeof Spent>;
