import type { Effort } from "../protocol/effort.ts";
import type { Json } from "../protocol/json.ts";
import type { Message, ModelPrice, ModelReply } from "../protocol/model.ts";
import type { RunError } from "../protocol/run-error.ts";
import type { ToolSpec } from "../protocol/tool.ts";

/** A language model, behind whatever wire it speaks. */
export interface ModelProvider {
  /** The segment of a model id before the first slash. */
  readonly id: string;
  /**
   * One call, streamed. Throws a `RunFailure` with the reason; never commits a partial reply. Stops at once when
   * `signal` aborts.
   */
  call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply>;
  /** What a model costs; null when nobody knows, which is not the same as nothing. */
  priceOf(model: string): Promise<ModelPrice | null>;
  /** Whether a call of this model would find somebody to answer it. @default yes */
  serves?(model: string): boolean;
  /** The longest conversation that a model can read, its answer included; null (or no such method): nobody knows. */
  contextOf?(model: string): Promise<number | null>;
}

export interface ModelRequest {
  model: string;
  system: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  /** The most that the model may say. */
  maxOutputTokens: number;
  /** Null: the model's own default. */
  temperature: number | null;
  /** How hard it is to think. @default the model's own */
  effort?: Effort | null;
  /** JSON Schema of the final answer, for providers that can hold a model to one. */
  outputSchema?: Record<string, Json> | null;
  /** Where the call stands in the tree. Real models never see it; scripted and replayed ones answer by it. */
  origin: {
    session: string;
    run: string;
    agent: string;
    task: string;
    attempt: number;
    /** Depth of the run in its tree, the root being 0. */
    depth?: number;
    /** Whether the run goes on with what was said in its session before. @default false */
    continued?: boolean;
    step: number;
    /** What the call is for: a turn of the run, unless it says otherwise. */
    purpose?: "turn" | "intent" | "summary";
    /** Requests that were made for this very call already, and failed. @default 0 */
    triesBefore?: number;
  };
}

export interface ModelCallOptions {
  signal: AbortSignal;
  onDelta(text: string): void;
  /** Something came over the wire, be it words, thoughts or a sign of life: what a watchdog waits for. */
  onActivity?(): void;
  /** The call was turned away and will be made again by itself. */
  onRetry?(retry: { error: RunError; waitMs: number; tries: number; triesMax: number }): void;
}
