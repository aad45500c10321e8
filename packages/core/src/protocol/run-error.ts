import { z } from "zod";

/** What can go wrong in a run, sorted by what a parent would do about it. */
export const RunErrorType = z.enum([
  "auth",
  "params",
  "network",
  "rate_limit",
  "permission",
  "tool_error",
  "depth",
  "budget",
  "cancelled",
  "timeout",
  "crashed",
  "verification",
  "unknown_agent",
  /** Nobody who lives can run it: no host serves that agent, or none where its files are. */
  "no_host",
  /** Its files are not where its journal says that they are. */
  "workspace_lost",
  "model",
]);
export type RunErrorType = z.infer<typeof RunErrorType>;

export const RunError = z.object({
  type: RunErrorType,
  message: z.string(),
  /** The tool that failed, where it was one. */
  tool: z.string().nullable().default(null),
  /** Whether trying the same again may succeed. */
  recoverable: z.boolean(),
  retryAfterMs: z.number().nonnegative().nullable().default(null),
  /** Of a model call: how many requests were made for it; none, where it was refused before there was one. */
  tries: z.int().nonnegative().exactOptional(),
  /** Of a model call: whether the model may have begun to work, so that the call may have been paid for. */
  begun: z.boolean().exactOptional(),
});
export type RunError = z.infer<typeof RunError>;

/** A run's error from anything that was thrown at its border. */
export function toRunError(thrown: unknown, type: RunErrorType, tool: string | null = null): RunError {
  const carried = typeof thrown === "object" && thrown !== null && "runError" in thrown ? thrown.runError : null;
  const parsed = RunError.safeParse(carried);
  if (parsed.success) return { ...parsed.data, tool: parsed.data.tool ?? tool };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { type, message, tool, recoverable: false, retryAfterMs: null };
}

/** Thrown by adapters (models, tools) to say precisely what went wrong. */
export class RunFailure extends Error {
  readonly runError: RunError;

  constructor(error: z.input<typeof RunError>, options?: ErrorOptions) {
    super(error.message, options);
    this.name = "RunFailure";
    this.runError = RunError.parse(error);
  }
}
