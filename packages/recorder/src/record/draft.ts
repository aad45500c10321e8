import { Budget } from "@troupe/core";
import { isDelegate, type RecordStatus } from "@troupe/core/internal";
import { z } from "zod";

const NoteOutcome = z.object({
  ok: z.boolean(),
  output: z.string(),
  error: z.string().nullable(),
  in_doubt: z.boolean(),
});
export type NoteOutcome = z.infer<typeof NoteOutcome>;

/** One child of a delegate call: a call may ask for several at once. */
export const ChildNote = z.object({
  item: z.int(),
  /** What the model calls it within its batch. */
  name: z.string(),
  agent: z.string(),
  /** The newest attempt's. */
  run_id: z.string(),
  outcome: NoteOutcome.nullable(),
  duration_ms: z.number().nullable(),
});
export type ChildNote = z.infer<typeof ChildNote>;

/** One tool call as `tool_calls_json` shows it. Long texts are cut there; the entries have them whole. */
export const ToolCallNote = z.object({
  step: z.int(),
  call: z.int(),
  name: z.string(),
  args: z.json(),
  /** Null while it runs, and for ever where the run ended before it was done. Of several children: once all are. */
  outcome: NoteOutcome.nullable(),
  /** Null as well for a call with several children: each has its own. */
  duration_ms: z.number().nullable(),
  children: z.array(ChildNote).exactOptional(),
});
export type ToolCallNote = z.infer<typeof ToolCallNote>;

/** A question to a person, and the call that waits for its answer. */
export const Ask = z.object({ approval: z.string(), tool: z.string().nullable(), step: z.int(), call: z.int() });
export type Ask = z.infer<typeof Ask>;

export const RequestType = z.enum(["prompt", "delegation", "continuation"]);
export type RequestType = z.infer<typeof RequestType>;

/** What a run and all below it may use, as its row keeps it. */
export const DraftBudget = Budget.nullable();

/**
 * All that the record says of one run. It is complete: what the next entry changes depends on the draft and the entry
 * alone, so it makes no difference where in the feed a recorder was stopped.
 */
export interface RunDraft {
  readonly session: string;
  readonly run: string;
  readonly parentRun: string | null;
  /** Who asked: a user, a parent, or a user once more. */
  readonly requestType: RequestType;
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
  /** Questions that nobody has answered. */
  readonly asks: readonly Ask[];
  readonly paused: boolean;
  readonly startedAt: string;
  readonly completedAt: string | null;
  readonly durationMs: number | null;
  readonly iterations: number;
  readonly maxIterations: number | null;
  readonly maxDurationMs: number | null;
  readonly maxToolCalls: number | null;
  /** Null until it is open. */
  readonly budget: z.infer<typeof DraftBudget>;
  readonly toolCalls: readonly ToolCallNote[];
  /** As the response counts them, once there is one. */
  readonly toolCallCount: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
  /** Null once the price of anything is unknown. */
  readonly costUsd: number | null;
  readonly files: readonly string[];
  readonly activity: string | null;
  readonly details: string | null;
  readonly summary: string | null;
  readonly error: string | null;
  readonly exactBailout: string | null;
  readonly warnings: readonly string[];
  /** The exact words, for `metadata_json`. */
  readonly metadata: Readonly<Record<string, string | number | null>>;
  /** Who wrote its newest entry. */
  readonly host: string | null;
  readonly lastEventAt: string;
  readonly headIndex: number;
  readonly headHash: string | null;
  readonly position: number;
}

/** Children of the newest turn that have not answered yet. */
export function openChildren({ toolCalls }: Pick<RunDraft, "toolCalls">): number {
  const step = toolCalls.at(-1)?.step;
  const open = toolCalls.filter((note) => note.step === step && note.outcome === null && isDelegate(note.name));
  return open.reduce((sum, { children }) => sum + (children?.filter(isOpen).length ?? 1), 0);
}

export function isOpen({ outcome }: ChildNote): boolean {
  return outcome === null;
}
