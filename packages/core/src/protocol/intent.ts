import { z } from "zod";
import { Risk } from "./agent.ts";
import { Json, JsonObject } from "./json.ts";

/** A run's understanding of its request before it starts to work. */
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
