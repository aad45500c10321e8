import { z } from "zod";

/** Types of errors in a run. A parent's retry policy lists types. */
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
  /** No live host serves the agent, or none with the locality of its files. */
  "no_host",
  /** Its files are not at the place that its journal names. */
  "workspace_lost",
  "model",
]);
export type RunErrorType = z.infer<typeof RunErrorType>;

export const RunError = z.object({
  type: RunErrorType,
  message: z.string(),
  /** The failed tool, if a tool failed. */
  tool: z.string().nullable().default(null),
  /** Whether a retry may succeed. */
  recoverable: z.boolean(),
  retryAfterMs: z.number().nonnegative().nullable().default(null),
  /** For a model call: number of requests made; 0 if it was refused before the first. */
  tries: z.int().nonnegative().exactOptional(),
  /** For a model call: whether the model may have begun to work, so that the provider may charge the call. */
  begun: z.boolean().exactOptional(),
});
export type RunError = z.infer<typeof RunError>;

/** An error that a retry cannot fix. */
export function permanentError(type: RunErrorType, message: string): RunError {
  return { type, message, tool: null, recoverable: false, retryAfterMs: null };
}

/** Converts a thrown value to a run's error. */
export function toRunError(thrown: unknown, type: RunErrorType, tool: string | null = null): RunError {
  const carried = typeof thrown === "object" && thrown !== null && "runError" in thrown ? thrown.runError : null;
  const parsed = RunError.safeParse(carried);
  if (parsed.success) return { ...parsed.data, tool: parsed.data.tool ?? tool };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { type, message, tool, recoverable: false, retryAfterMs: null };
}

/**
 * Thrown by adapters (models, tools) to report a precise error of a run.
 *
 * @example
 * throw new RunFailure({ type: "rate_limit", message: "429 from the provider", recoverable: true, retryAfterMs: 2_000 });
 */
export class RunFailure extends Error {
  readonly runError: RunError;
  /** For a call of a tool: the text that the model reads. Null: the type and the message. */
  readonly output: string | null;

  constructor(error: z.input<typeof RunError>, options: ErrorOptions & { output?: string | null } = {}) {
    super(error.message, options);
    this.name = "RunFailure";
    this.output = options.output ?? null;
    this.runError = RunError.parse(error);
  }
}
