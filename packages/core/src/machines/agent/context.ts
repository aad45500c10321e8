import type { Budget } from "../../protocol/budget.ts";
import type { RunSpec } from "../../protocol/entry.ts";
import type { Intent } from "../../protocol/intent.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { BailoutReason, RunResponse, RunStatus } from "../../protocol/response.ts";
import type { RunError } from "../../protocol/run-error.ts";
import type { ToolCall } from "../../protocol/tool.ts";
import type { BatchPlan } from "../batch/machine.ts";
import type { TurnRetry } from "../effects.ts";
import type { FactOf } from "../facts.ts";
import { type RunClock, startClock } from "./clock.ts";
import { type Conversation, openConversation } from "./conversation.ts";
import { assessDirectly } from "./intent.ts";
import type { RepeatedCalls } from "./loop-detection.ts";
import { emptyUsageCounts, type UsageCounts } from "./usage.ts";

export interface AgentInput {
  request: RunRequest;
  pin: RunSpec;
  /** When the run was opened: `at` of its first entry. */
  openedAt: number;
}

/** How a run will end, once that is known. */
export interface RunOutcome {
  status: RunStatus;
  error: RunError | null;
  bailoutReason: BailoutReason | null;
}

/** One call of the current turn. */
export interface CallState {
  call: number;
  toolCall: ToolCall;
  /**
   * `planned` until all that has to precede the turn's calls is done; `waiting` for a person's answer.
   * A delegate call is `running` from its beginning to the last of its tasks, or to the first where results stream.
   */
  phase: "planned" | "queued" | "waiting" | "running" | "settled";
  /** The question that it waits for, or that was answered with yes. */
  approval: string | null;
  approved: boolean;
  /** What a delegate call asks for; null for tools. */
  plan: BatchPlan | null;
  /** Handles of streaming tasks that it stops. */
  stops: readonly string[];
  /** What the model will read; null until settled. */
  text: string | null;
  /** Why it was not run at all. */
  refusal: RunError | null;
  isError: boolean;
}

/** A task of a batch that has been asked, and what is set aside for it. */
export interface ChildState {
  step: number;
  call: number;
  item: number;
  attempt: number;
  /** Taken from this run's remainder until its response says what it really used; null between two attempts. */
  reserve: Budget | null;
  /** Set aside for its further attempts, between two of them too. */
  retries: Partial<Budget>;
  /** It, or a run below it, waits for a person. */
  waiting: boolean;
}

/** A delegate call, from its start to the end of its last task. */
export interface BatchState {
  step: number;
  call: number;
  plan: BatchPlan;
  /** Tasks that have settled: their results, by place. */
  results: Readonly<Record<number, RunResponse>>;
  /** Whether the model has been given its first result already: the others come as messages. */
  streaming: boolean;
  /** Tasks that the model itself has stopped: of them it has heard all that it wants. */
  stopped: readonly number[];
}

/** The turn that is being made, or was made last. */
export interface Turn {
  /** The cap because of which it is the last: the model is told so, and offered no tools. Null when it is not. */
  last: BailoutReason | null;
  maxOutputTokens: number;
  /** The most that its model call can use. */
  reserve: { tokens: number; costUsd: number };
}

export interface AgentContext extends AgentInput, Conversation {
  /** `at` of the newest entry: the only clock that a machine knows. */
  lastAt: number;
  clock: RunClock;
  paused: boolean;
  /** The question about the whole run, while it waits for an answer. */
  awaiting: string | null;
  intent: Intent;
  /** What has come meanwhile, and is told to the model at its next turn. */
  news: readonly string[];
  /** Model calls begun. */
  step: number;
  turn: Turn | null;
  /** Set while a model call is under way: what it is charged if nobody ever hears of its outcome. */
  outstanding: { tokens: number; costUsd: number } | null;
  /** The next turn is this one over again: its model call was turned away for the moment, or lost. */
  repeatsTurn: boolean;
  /** How often in a row that happened, and how long to wait. */
  backoff: { count: number; delayMs: number; retry: TurnRetry | null };
  /** Requests that were made for this turn's model call, and failed. */
  modelTries: number;
  calls: readonly CallState[];
  /** The newest step of which it is written down what becomes of its calls. */
  plannedStep: number;
  batches: Readonly<Record<string, BatchState>>;
  /** Tasks that wait for nothing but a slot, in the order in which they became ready. */
  ready: readonly { step: number; call: number; item: number }[];
  children: ReadonlyMap<string, ChildState>;
  /** Timers of retries that fired while it was paused: they are made when it is resumed. */
  retriesDue: readonly FactOf<"timer.fired">[];
  /** Children asked for so far, retries not counted. */
  childrenAsked: number;
  summary: { step: number; text: string } | null;
  /** The newest step before which older results gave way to references; 0 before any did. */
  trimmedStep: number;
  /** The newest step before which the history gave way to a summary, and that summary; its text is null for a cutting. */
  compacted: { step: number; text: string | null } | null;
  /** Tools that a person has allowed for the rest of this run. */
  allowed: readonly string[];
  repeats: RepeatedCalls;
  emptyReplies: number;
  tally: UsageCounts;
  outcome: RunOutcome | null;
  verifyRound: number;
  response: RunResponse | null;
}

/** Nothing is waited for. */
export const noBackoff: AgentContext["backoff"] = { count: 0, delayMs: 0, retry: null };

export function openContext(input: AgentInput): AgentContext {
  return {
    ...input,
    ...openConversation(input.request, input.pin),
    lastAt: input.openedAt,
    clock: startClock(input.openedAt),
    paused: false,
    awaiting: null,
    intent: assessDirectly(input.request, input.pin),
    news: [],
    step: 0,
    turn: null,
    outstanding: null,
    repeatsTurn: false,
    backoff: noBackoff,
    modelTries: 0,
    calls: [],
    plannedStep: 0,
    batches: {},
    ready: [],
    children: new Map(),
    retriesDue: [],
    childrenAsked: 0,
    summary: null,
    trimmedStep: 0,
    compacted: null,
    allowed: [],
    repeats: {},
    emptyReplies: 0,
    tally: emptyUsageCounts,
    outcome: null,
    verifyRound: 0,
    response: null,
  };
}

/** Where a task of a batch stands in the run. */
export function placeOf({ step, call, item }: { step: number; call: number; item: number }): string {
  return `${step}/${call}/${item}`;
}

export function batchKey({ step, call }: { step: number; call: number }): string {
  return `${step}/${call}`;
}
