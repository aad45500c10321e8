import type { ApprovedState, RunAllowance } from "../../protocol/approval.ts";
import type { Budget } from "../../protocol/budget.ts";
import type { RunSpec } from "../../protocol/entry.ts";
import type { Intent } from "../../protocol/intent.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { BailoutReason, RunResponse, RunStatus } from "../../protocol/response.ts";
import type { RunError } from "../../protocol/run-error.ts";
import { joinTaint, noTaint } from "../../protocol/taint.ts";
import type { ToolCall } from "../../protocol/tool.ts";
import type { BatchPlan } from "../batch/machine.ts";
import type { TurnRetry } from "../effects.ts";
import type { FactOf } from "../facts.ts";
import type { ChildCheck, FailedCheck } from "./child-checks.ts";
import { openClock, type RunClock } from "./clock.ts";
import { type Conversation, openConversation } from "./conversation.ts";
import type { CallCounts } from "./loop-detection.ts";
import type { CallPosition, TaskPosition } from "./task-ids.ts";
import { requiredDelegation } from "./triggers.ts";
import { emptyUsageCounts, type UsageCounts } from "./usage.ts";

export interface AgentInput {
  request: RunRequest;
  pin: RunSpec;
  /** When the run was opened: `at` of its first entry. */
  openedAt: number;
}

/** Status, error and bailout reason of a run's end, once the machine has decided them. */
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
   * `planned`: the turn's plan or summary is not written yet. `waiting`: a person has to allow the call.
   * A delegate call is `running` until its last task settles, or until its first one does where results stream.
   */
  phase: "planned" | "queued" | "waiting" | "running" | "settled";
  /** Id of the approval that the call waits for, or that was granted. */
  approval: string | null;
  /** Calls that the approval covers for the rest of the run. Absent: none was requested, or by an earlier version. */
  reach?: RunAllowance;
  /** The approval with its files. Absent: none was requested. */
  asked?: ApprovedState;
  approved: boolean;
  /** The tasks of a delegate call; null for tools. */
  plan: BatchPlan | null;
  /** Handles of streaming tasks that the call cancels. */
  stops: readonly string[];
  /** The result that the model will read; null until settled. */
  text: string | null;
  /** Why the call was refused without being started. */
  refusal: RunError | null;
  isError: boolean;
}

/** A task of a batch that was started, and its reserves. */
export interface ChildState extends TaskPosition {
  attempt: number;
  /** Taken from this run's remainder until the response says the real usage; null between two attempts. */
  reserve: Budget | null;
  /** Reserved for further attempts; held between two attempts as well. */
  retryReserve: Partial<Budget>;
  /** The child, or a run below it, waits for a person. */
  waiting: boolean;
}

/** A delegate call, from its start to the end of its last task. */
export interface BatchState extends CallPosition {
  plan: BatchPlan;
  /** Responses of settled tasks, by index. */
  results: Readonly<Record<number, RunResponse>>;
  /** Whether the model already has the first result: later results arrive as messages. */
  streaming: boolean;
  /** Tasks that the model cancelled: their results are not reported to it. */
  stopped: readonly number[];
}

/** The current or latest turn. */
export interface Turn {
  /** The cap that makes this turn the last one: the model is told so and gets no tools. Null when more may follow. */
  last: BailoutReason | null;
  maxOutputTokens: number;
  /** The most that the turn's model call can use. */
  reserve: { tokens: number; costUsd: number };
}

export interface AgentContext extends AgentInput, Conversation {
  /** `at` of the newest entry: the only clock that a machine knows. */
  lastAt: number;
  clock: RunClock;
  paused: boolean;
  /** Id of the open approval for the whole run. */
  pendingApproval: string | null;
  intent: Intent;
  /** Messages that arrived since the last turn; the next turn gives them to the model. */
  pendingMessages: readonly string[];
  /** Number of turns begun. */
  step: number;
  turn: Turn | null;
  /** Set while a model call runs: the amount charged if its outcome is lost. */
  callReserve: { tokens: number; costUsd: number } | null;
  /** The next turn repeats the current one: its model call was rate limited or lost. */
  repeatTurn: boolean;
  /** Consecutive repetitions, and the wait before the next one. */
  backoff: { count: number; delayMs: number; retry: TurnRetry | null };
  /** Failed requests of this turn's model call. */
  modelTries: number;
  calls: readonly CallState[];
  /** The newest step whose call plan is in the journal. */
  plannedStep: number;
  batches: Readonly<Record<string, BatchState>>;
  /** Tasks that wait only for a slot, in the order in which they became ready. */
  readyTasks: readonly TaskPosition[];
  children: ReadonlyMap<string, ChildState>;
  /** Retry timers that fired while the run was paused; the retries start on resume. */
  retriesDue: readonly FactOf<"timer.fired">[];
  /** Children requested so far, without retries. */
  childrenRequested: number;
  summary: { step: number; text: string } | null;
  /** The newest step before which old results were replaced by placeholders; 0 if none. */
  trimmedStep: number;
  /** The newest step before which the history was summarised, and the summary; `text` is null if it was cut instead. */
  compacted: { step: number; text: string | null } | null;
  /** Tools that a person has allowed for the rest of this run, by requests of earlier versions. */
  allowedTools: readonly string[];
  /** Calls that a person has allowed for the rest of this run. */
  allowances: readonly RunAllowance[];
  callCounts: CallCounts;
  emptyReplies: number;
  usage: UsageCounts;
  outcome: RunOutcome | null;
  verifyRound: number;
  /** Results of children that have to be checked before the next turn. */
  uncheckedChildren: readonly ChildCheck[];
  /** Checks of children's results that did not hold, and were not passed since. */
  failedChecks: readonly FailedCheck[];
  /** The failures of all checks of children's results, the mended ones too. The user is told of them. */
  checkFailures: readonly string[];
  checkRound: number;
  /** Agents of children that have ended, whatever their result. */
  delegatedTo: readonly string[];
  /** How often the model was reminded of a mandatory delegation. */
  delegationReminders: number;
  response: RunResponse | null;
}

export const noBackoff: AgentContext["backoff"] = { count: 0, delayMs: 0, retry: null };

export function openContext(input: AgentInput): AgentContext {
  return {
    ...input,
    ...openConversation(input.request, input.pin),
    lastAt: input.openedAt,
    clock: openClock(input.openedAt),
    paused: false,
    pendingApproval: null,
    intent: directIntent(input),
    pendingMessages: [],
    step: 0,
    turn: null,
    callReserve: null,
    repeatTurn: false,
    backoff: noBackoff,
    modelTries: 0,
    calls: [],
    plannedStep: 0,
    batches: {},
    readyTasks: [],
    children: new Map(),
    retriesDue: [],
    childrenRequested: 0,
    summary: null,
    trimmedStep: 0,
    compacted: null,
    allowedTools: [],
    allowances: [],
    callCounts: {},
    emptyReplies: 0,
    usage: { ...emptyUsageCounts, taint: joinTaint(input.pin.taint ?? noTaint, input.request.taint) },
    outcome: null,
    verifyRound: 0,
    uncheckedChildren: [],
    failedChecks: [],
    checkFailures: [],
    checkRound: 0,
    delegatedTo: [],
    delegationReminders: 0,
    response: null,
  };
}

/** The intent of a run from its request alone: without a model call, and the same in every replay. */
function directIntent({ request, pin }: AgentInput): Intent {
  const required = requiredDelegation({ request, pin });
  return {
    context: {
      request: request.task,
      tools: pin.grant.tools,
      params: {},
      status: "planning",
      result: null,
      notes: required
        ? [`has to be delegated to ${required.trigger.agent}: the request says “${required.phrase}”`]
        : [],
    },
    expectedFormat: request.parent ? "summary and details for the parent agent" : "an answer for the user",
    successCriteria: request.successCriteria ?? "the task is done as it was asked",
    // Each tool call is assessed by its own risk later.
    risk: "low",
  };
}

/** The intent with another status of its context. */
export function withStatus(intent: Intent, status: Intent["context"]["status"]): Intent {
  return intent.context.status === status ? intent : { ...intent, context: { ...intent.context, status } };
}
