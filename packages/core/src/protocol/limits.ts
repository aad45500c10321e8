import { z } from "zod";

const count = z.int().positive();

/** Without defaults: `partial()` of a schema that has them would fill in every cap that was left out. */
const caps = z.object({
  maxIterations: count,
  maxToolCalls: count,
  maxDurationMs: count,
  maxTokens: count.nullable(),
  maxContextTokens: count.nullable(),
  /** The most that one model call may say. */
  maxOutputTokens: count,
  maxCostUsd: z.number().positive().nullable(),
  /** How many tool calls of one turn run at once. */
  maxParallelTools: count,
  /** How many children run at once; further ones queue. */
  maxConcurrent: count,
  /** How many children one run may ask for in all, retries not counted. */
  maxChildren: count,
  /** How deep the tree may grow, the root being 0. */
  maxDepth: z.int().nonnegative(),
});

/** The caps of one run. The machine holds them; a model may only tighten them. `null` is no cap of this kind. */
export const Limits = z.object({
  maxIterations: caps.shape.maxIterations.default(20),
  maxToolCalls: caps.shape.maxToolCalls.default(100),
  maxDurationMs: caps.shape.maxDurationMs.default(300_000),
  maxTokens: caps.shape.maxTokens.default(null),
  maxContextTokens: caps.shape.maxContextTokens.default(null),
  maxOutputTokens: caps.shape.maxOutputTokens.default(8_192),
  maxCostUsd: caps.shape.maxCostUsd.default(null),
  maxParallelTools: caps.shape.maxParallelTools.default(8),
  maxConcurrent: caps.shape.maxConcurrent.default(5),
  maxChildren: caps.shape.maxChildren.default(50),
  maxDepth: caps.shape.maxDepth.default(3),
});
export type Limits = z.infer<typeof Limits>;

/** Some of the caps: one that is left out stays left out. */
export const PartialLimits = caps.partial();
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
    if (typeof cap !== "number" || !Number.isFinite(cap) || !Object.hasOwn(limits, key)) continue;
    const own = tightened[key];
    tightened[key] = typeof own === "number" ? Math.min(own, cap) : cap;
  }
  return tightened as Limits;
}
