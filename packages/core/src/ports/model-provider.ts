import type { Effort } from "../protocol/agent.ts";
import type { Json } from "../protocol/json.ts";
import type { Message, ModelPrice, ModelReply, Usage } from "../protocol/model.ts";
import type { RunError } from "../protocol/run-error.ts";
import type { ToolSpec } from "../protocol/tool.ts";

/**
 * The adapter of one provider of language models.
 *
 * @example
 * const echo: ModelProvider = {
 *   id: "echo",
 *   priceOf: async () => null,
 *   async call({ model, messages }) {
 *     const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: null };
 *     return { text: messages.at(-1)?.text ?? "", calls: [], usage, stopReason: "end", model };
 *   },
 * };
 */
export interface ModelProvider {
  /** The part of a model id before the first slash. */
  readonly id: string;
  /**
   * Makes one streamed call. Throws a `RunFailure` on errors and never returns a partial reply. Stops at once when `signal`
   * aborts.
   */
  call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply>;
  /** Price of a model; null if unknown, which does not mean free. */
  priceOf(model: string): Promise<ModelPrice | null>;
  /** Whether the provider can serve this model. @default true */
  serves?(model: string): boolean;
  /** Context window of a model, its answer included; null (or no such method) if unknown. */
  contextOf?(model: string): Promise<number | null>;
}

export interface ModelRequest {
  model: string;
  system: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  /** The most output tokens. */
  maxOutputTokens: number;
  /** Null means the model's default. */
  temperature: number | null;
  /** Reasoning effort. @default the model's default */
  effort?: Effort | null;
  /** JSON Schema of the final answer, for providers that can enforce one. */
  outputSchema?: Record<string, Json> | null;
  /** Position of the call in the tree. Scripted and replayed models use it; real models never see it. */
  origin: {
    session: string;
    run: string;
    agent: string;
    task: string;
    attempt: number;
    /** Depth of the run. The root has depth 0. */
    depth?: number;
    /** Whether the run continues earlier turns of its session. @default false */
    continued?: boolean;
    step: number;
    /** Purpose of the call. @default "turn" */
    purpose?: "turn" | "intent" | "summary";
    /** Failed requests of this call so far. @default 0 */
    triesBefore?: number;
  };
}

/** The part of a model call that its provider has reported and streamed so far. */
export interface CallProgress {
  /** Null if the provider reports usage only at the end. */
  usage: Usage | null;
  /** Characters of text, thinking and arguments. */
  outputCharacters: number;
}

export interface ModelCallOptions {
  signal: AbortSignal;
  onDelta(text: string): void;
  /** More of the answer arrived. If the call is stopped, its usage is estimated from the last progress. */
  onProgress?(progress: CallProgress): void;
  /** Data arrived: text, thinking or a keep-alive. Resets the watchdog. */
  onActivity?(): void;
  /** The call failed in a temporary way, and the adapter will repeat it. */
  onRetry?(retry: { error: RunError; waitMs: number; tries: number; triesMax: number }): void;
}

/** The model setting of an agent's definition, and the context to resolve it in. */
export interface ModelPreference {
  /** An alias, an id of the configured map, `provider/model`, or `inherit`. */
  wanted: string;
  /** The resolved model of the parent or the session. */
  inherited: string;
  agent: string;
  /** The session's folder, whose configuration may map the agent to a model. */
  workspace: string;
}

/**
 * Resolves the model of a run to `provider/model`, once, when the run opens. Never throws: an unknown id is returned as it
 * is, and its call fails with the reason.
 */
export type ResolveModel = (preference: ModelPreference) => Promise<string>;
