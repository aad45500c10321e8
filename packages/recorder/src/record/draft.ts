import { isDelegate, type RecordStatus } from "@troupe/core";
import { z } from "zod";

/** One tool call as `tool_calls_json` shows it. Long texts are cut there; the entries have them whole. */
export const ToolCallNote = z.object({
  step: z.int(),
  call: z.int(),
  name: z.string(),
  args: z.json(),
  /** Null while it runs, and for ever where the run ended before it was done. */
  outcome: z
    .object({ ok: z.boolean(), output: z.string(), error: z.string().nullable(), in_doubt: z.boolean() })
    .nullable(),
  duration_ms: z.number().nullable(),
});
export type ToolCallNote = z.infer<typeof ToolCallNote>;

/**
 * All that the record says of one run. It is complete: what the next entry changes depends on the draft and the entry
 * alone, so it makes no difference where in the feed a recorder was stopped.
 */
export interface RunDraft {
  readonly session: string;
  readonly run: string;
  readonly parentRun: string | null;
  readonly agent: string;
  readonly depth: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly task: string;
  readonly contextMode: string;
  readonly contextTokens: number | null;
  readonly model: string | null;
  readonly systemPrompt: string | null;
  readonly status: RecordStatus;
  /** The machine's own word. */
  readonly exactStatus: string;
  readonly startedAt: string;
  readonly completedAt: string | null;
  readonly durationMs: number | null;
  readonly iterations: number;
  readonly maxIterations: number | null;
  readonly maxDurationMs: number | null;
  readonly toolCalls: readonly ToolCallNote[];
  /** As the response counts them, once there is one. */
  readonly toolCallCount: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
  readonly files: readonly string[];
  readonly activity: string | null;
  readonly details: string | null;
  readonly summary: string | null;
  readonly error: string | null;
  readonly exactBailout: string | null;
  readonly warnings: readonly string[];
  /** The exact words, for `metadata_json`. */
  readonly metadata: Readonly<Record<string, string | number | null>>;
  readonly lastEventAt: string;
  readonly headIndex: number;
  readonly headHash: string | null;
  readonly position: number;
}

/** Delegations of the newest turn that have no result yet. */
export function openChildren({ toolCalls }: Pick<RunDraft, "toolCalls">): number {
  const step = toolCalls.at(-1)?.step;
  return toolCalls.filter((note) => note.step === step && note.outcome === null && isDelegate(note.name)).length;
}
