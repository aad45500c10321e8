import type { Risk } from "../protocol/agent.ts";
import type { Intent } from "../protocol/intent.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import type { RunError } from "../protocol/run-error.ts";

/**
 * Reads requests of one kind by patterns, and decides the calls of a run in the place of a model. An agent names its handler
 * in its file. What a handler returns is journaled, so a replay never asks it again.
 */
export interface RequestHandler {
  /** Agents name it. */
  readonly name: string;
  /** The intent of a request, before any tool runs. Null if no pattern fits: then the agent's model works on the request. */
  assess(request: HandledRequest): Promise<HandledIntent | null>;
  /** The next calls, or the end of the work. It is asked again after the calls have results. */
  next(state: HandlerState): Promise<HandlerStep>;
}

/** A request, and the facts of the run that works on it. */
export interface HandledRequest {
  task: string;
  userId: string | null;
  session: string;
  run: string;
  /** Wall clock. */
  nowMs: number;
  /** Names of the tools that the run may call, `delegate` included. */
  tools: readonly string[];
  /** Agents that the run may delegate to. */
  agents: readonly string[];
}

/** A handler's understanding of a request. */
export interface HandledIntent {
  /** In the order of their calls. */
  tools: readonly string[];
  params: JsonObject;
  risk: Risk;
  expectedFormat: string;
  successCriteria: string;
  /** What happens after each kind of error, as sentences. */
  errorPlan: readonly string[];
  /** Readings of the request and results of the checks before the execution, as sentences. */
  notes: readonly string[];
  /** Why the request cannot be carried out, such as a missing parameter. The run fails with it before any tool runs. */
  problem?: RunError;
}

export interface HandlerState {
  request: HandledRequest;
  intent: Intent;
  /** The results of the calls so far, in the order of the calls. */
  results: readonly HandledResult[];
  /** How many more turns with calls may follow. 0: the step must be an answer or a failure. */
  turnsLeft: number;
}

/** The result of one call. */
export interface HandledResult {
  tool: string;
  args: Json;
  ok: boolean;
  /** The output. If it is JSON, its value; else its text. */
  output: Json;
  text: string;
}

export type HandlerStep =
  /** `note` says what the calls are for, as a short sentence. */
  | { kind: "calls"; calls: readonly { tool: string; args: JsonObject }[]; note: string }
  | { kind: "answer"; answer: HandledAnswer }
  | { kind: "failure"; error: RunError };

/** The end of the work on a request. The data of the response are the results of the tools. */
export interface HandledAnswer {
  /** One or two sentences for a person. */
  summary: string;
  /** Markdown below the summary, such as a list of messages. Empty for none. */
  details: string;
  assumptions: readonly string[];
  missing: readonly string[];
  /** From 0 to 1. */
  confidence: number;
}
