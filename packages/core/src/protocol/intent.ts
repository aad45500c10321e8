import { z } from "zod";
import { Risk } from "./agent.ts";
import { Json, JsonObject } from "./json.ts";

/** What a run has understood before it touches anything: the six fields and what they are measured against. */
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
