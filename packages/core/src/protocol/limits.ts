import { z } from "zod";

/** The caps of one run. The machine holds them; a model may only tighten them. `null` is no cap of this kind. */
export const Limits = z.object({
  maxIterations: z.int().positive().default(20),
  maxToolCalls: z.int().positive().default(100),
  maxDurationMs: z.int().positive().default(300_000),
  maxTokens: z.int().positive().nullable().default(null),
  maxContextTokens: z.int().positive().nullable().default(null),
  maxCostUsd: z.number().positive().nullable().default(null),
  /** How many tool calls of one turn run at once. */
  maxParallelTools: z.int().positive().default(8),
  /** How many children run at once; further ones queue. */
  maxConcurrent: z.int().positive().default(5),
  /** How deep the tree may grow, the root being 0. */
  maxDepth: z.int().nonnegative().default(3),
});
export type Limits = z.infer<typeof Limits>;

export const PartialLimits = Limits.partial();
export type PartialLimits = z.infer<typeof PartialLimits>;

/**
 * The tighter of two sets, field by field: `null` (no cap) yields to any number.
 *
 * @example
 * tighten(Limits.parse({ maxTokens: null }), { maxTokens: 10 }).maxTokens; // 10
 */
export function tighten(limits: Limits, by: Readonly<Record<string, number | null | undefined>>): Limits {
  const tightened: Record<string, number | null> = { ...limits };
  for (const [key, cap] of Object.entries(by)) {
    if (typeof cap !== "number" || !Object.hasOwn(limits, key)) continue;
    const own = tightened[key];
    tightened[key] = typeof own === "number" ? Math.min(own, cap) : cap;
  }
  return tightened as Limits;
}
