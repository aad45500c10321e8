import { z } from "zod";
import { Risk } from "./agent.ts";
import { Token } from "./ids.ts";
import { Json, JsonObject } from "./json.ts";
import { RunError } from "./run-error.ts";

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
  /** How it was assessed. Absent: from the request alone, or by an earlier version. */
  by: z.enum(["patterns", "model"]).exactOptional(),
  /** What to do after each kind of error, as sentences. Absent: the rules of the tools. */
  errorPlan: z.array(z.string()).exactOptional(),
  /** The handler that decides the calls of the run, without a model. Absent: the model decides them. */
  handler: Token.exactOptional(),
  /** Why the request cannot be carried out. Absent: it can, as far as its words tell. */
  problem: RunError.exactOptional(),
});
export type Intent = z.infer<typeof Intent>;

/** The short context of a run at one moment, with its intent. `summary` is null until the run has ended. */
export const RunContext = SimpleContext.extend({
  summary: z.string().nullable(),
  ...Intent.omit({ context: true }).shape,
});
export type RunContext = z.infer<typeof RunContext>;
