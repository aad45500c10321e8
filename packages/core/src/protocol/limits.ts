import { z } from "zod";
import { durationSchema } from "../text/duration.ts";

const count = z.int().positive();

/** Without defaults, because `partial()` of a schema with defaults fills in every absent cap. */
const caps = z.object({
  maxIterations: count,
  maxToolCalls: count,
  maxDurationMs: durationSchema(count),
  maxTokens: count.nullable(),
  maxContextTokens: count.nullable(),
  /** Output tokens of one model call. */
  maxOutputTokens: count,
  maxCostUsd: z.number().positive().nullable(),
  /** Tool calls of one turn that run at once. */
  maxParallelTools: count,
  /** Children that run at once. Further ones queue. */
  maxConcurrent: count,
  /** Children that one run may start in total, without retries. */
  maxChildren: count,
  /** Depth of the tree. The root has depth 0. */
  maxDepth: z.int().nonnegative(),
});

/**
 * The caps of one run. The machine enforces them, and a model may only tighten them. `null` means no cap.
 *
 * @example
 * Limits.parse({ maxIterations: 5 }).maxToolCalls; // 100
 */
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

/** Some of the caps. Absent keys stay absent. */
export const PartialLimits = caps.partial();
export type PartialLimits = z.infer<typeof PartialLimits>;

/**
 * The tighter of two sets of limits, field by field. `null` (no cap) yields to any number.
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
