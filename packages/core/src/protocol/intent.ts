import { z } from "zod";
import { Risk } from "./agent.ts";
import { Json, JsonObject } from "./json.ts";

/**
 * A run's understanding of its request. `planning` until the intent is assessed and, for a request of high risk, approved;
 * then `executing`; at the end `complete` or `failed`.
 */
export const SimpleContext = z.object({
  request: z.string(),
  tools: z.array(z.string()),
  params: JsonObject,
  status: z.enum(["planning", "executing", "complete", "failed"]),
  result: Json,
  notes: z.array(z.string()),
});
export type SimpleContext = z.infer<typeof SimpleContext>;

export const Intent = z.object({
  context: SimpleContext,
  expectedFormat: z.string(),
  successCriteria: z.string(),
  risk: Risk,
});
export type Intent = z.infer<typeof Intent>;

/** The short context of a run at one moment, with its intent. `summary` is null until the run has ended. */
export const RunContext = SimpleContext.extend({
  summary: z.string().nullable(),
  ...Intent.omit({ context: true }).shape,
});
export type RunContext = z.infer<typeof RunContext>;
