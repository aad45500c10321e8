import type { Pin } from "../../protocol/entry.ts";
import type { Intent } from "../../protocol/intent.ts";
import type { Message, ModelReply } from "../../protocol/model.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { BailoutReason, RunResponse, RunStatus, Totals } from "../../protocol/response.ts";
import type { RunError } from "../../protocol/run-error.ts";
import type { ToolCall, ToolOutcome } from "../../protocol/tool.ts";
import { assessDirectly } from "./intent.ts";

export interface AgentInput {
  request: RunRequest;
  pin: Pin;
  /** When the run was opened: `at` of its first entry. */
  openedAt: number;
}

/** How a run will end, once that is known. */
export interface Verdict {
  status: RunStatus;
  error: RunError | null;
  bailoutReason: BailoutReason | null;
}

/** One call of the current turn. */
export interface CallState {
  call: number;
  toolCall: ToolCall;
  phase: "queued" | "running" | "settled";
  /** Attempts of a delegation that have settled. */
  attempts: number;
  /** What the model will read; null until settled. */
  text: string | null;
  isError: boolean;
}

/** What has been used and touched so far: evidence, from the runtime alone. */
export interface Tally {
  usage: { inputTokens: number; outputTokens: number; costUsd: number | null };
  toolCalls: number;
  toolsUsed: string[];
  filesCreated: string[];
  filesModified: string[];
  warnings: string[];
  /** Sums over all children, retries included. */
  children: Totals;
}

export interface AgentContext extends AgentInput {
  /** `at` of the newest entry: the only clock that a machine knows. */
  lastAt: number;
  /** Time in which no host held the run; it counts against no cap. */
  pausedMs: number;
  intent: Intent;
  messages: readonly Message[];
  /** Characters of all messages, kept as a sum because adding them up anew each turn would be quadratic. */
  messageChars: number;
  /** Model calls begun. */
  step: number;
  calls: readonly CallState[];
  tally: Tally;
  verdict: Verdict | null;
  verifyRound: number;
  response: RunResponse | null;
}

/** Whether the run's clock stands still, because it or a run below it waits for a person. */
export function isWaiting(_context: AgentContext): boolean {
  return false;
}

export const emptyTotals: Totals = {
  runs: 0,
  iterations: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  costUsd: 0,
};

export function openContext(input: AgentInput): AgentContext {
  const opening: Message = { role: "user", text: openingText(input.request) };
  return {
    ...input,
    lastAt: input.openedAt,
    pausedMs: 0,
    intent: assessDirectly(input.request, input.pin),
    messages: [opening],
    messageChars: messageLength(opening),
    step: 0,
    calls: [],
    tally: {
      usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
      toolCalls: 0,
      toolsUsed: [],
      filesCreated: [],
      filesModified: [],
      warnings: [],
      children: emptyTotals,
    },
    verdict: null,
    verifyRound: 0,
    response: null,
  };
}

/** The single message that a run gets: everything it has to know is in it. */
function openingText(request: RunRequest): string {
  const parts = [request.task];
  if (request.successCriteria) parts.push(`Success criteria: ${request.successCriteria}`);
  if (request.context) parts.push(`Context:\n${request.context}`);
  return parts.join("\n\n");
}

type Conversation = Pick<AgentContext, "messages" | "messageChars">;

/** The conversation, longer by these messages. */
export function withMessages(context: Conversation, added: readonly Message[]): Conversation {
  return {
    messages: [...context.messages, ...added],
    messageChars: added.reduce((sum, message) => sum + messageLength(message), context.messageChars),
  };
}

export function withMessage(context: Conversation, message: Message): Conversation {
  return withMessages(context, [message]);
}

function messageLength(message: Message): number {
  return message.text.length + (message.role === "assistant" ? JSON.stringify(message.calls).length : 0);
}

/** A rough size of the conversation: four characters a token, over-estimated on purpose. */
export function contextTokens(context: AgentContext): number {
  return Math.ceil((context.messageChars + context.pin.prompt.length) / 4);
}

export function addReply(tally: Tally, { usage, stopReason }: ModelReply): Tally {
  return {
    ...tally,
    usage: {
      inputTokens: tally.usage.inputTokens + usage.inputTokens,
      outputTokens: tally.usage.outputTokens + usage.outputTokens,
      costUsd: addCost(tally.usage.costUsd, usage.costUsd),
    },
    warnings: stopReason === "max_tokens" ? union(tally.warnings, [cutOffWarning]) : tally.warnings,
  };
}

const cutOffWarning = "the model was cut off at its output limit: what it said is incomplete";

export function addOutcome(tally: Tally, tool: string, outcome: ToolOutcome): Tally {
  return {
    ...tally,
    toolsUsed: union(tally.toolsUsed, [tool]),
    filesCreated: union(tally.filesCreated, outcome.filesCreated),
    filesModified: union(tally.filesModified, outcome.filesModified),
    warnings: outcome.inDoubt
      ? [...tally.warnings, `${tool} was interrupted: it may or may not have happened, and was not repeated`]
      : tally.warnings,
  };
}

/** A child's evidence becomes its parent's: files that it touched, and what its whole subtree has used. */
export function addChild(tally: Tally, response: RunResponse): Tally {
  return {
    ...tally,
    filesCreated: union(tally.filesCreated, response.filesCreated),
    filesModified: union(tally.filesModified, response.filesModified),
    warnings: union(tally.warnings, response.warnings),
    children: addTotals(tally.children, response.metrics.subtree),
  };
}

export function addTotals(a: Totals, b: Totals): Totals {
  return {
    runs: a.runs + b.runs,
    iterations: a.iterations + b.iterations,
    toolCalls: a.toolCalls + b.toolCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    costUsd: addCost(a.costUsd, b.costUsd),
  };
}

/** An unknown price makes the sum unknown: it is never counted as nothing. */
function addCost(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function union(a: string[], b: readonly string[]): string[] {
  return b.every((item) => a.includes(item)) ? a : [...new Set([...a, ...b])];
}
