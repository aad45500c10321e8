import { type EventObject, fromCallback } from "xstate";
import type { HandledResult } from "../ports/request-handler.ts";
import type { VerifierSpec } from "../protocol/agent.ts";
import type { ApprovedState, RunAllowance } from "../protocol/approval.ts";
import type { EntryBody, PlannedChild } from "../protocol/entry.ts";
import type { Intent } from "../protocol/intent.ts";
import type { Message } from "../protocol/model.ts";
import type { RunRequest } from "../protocol/request.ts";
import type { RunResponse } from "../protocol/response.ts";
import type { RunError, RunErrorType } from "../protocol/run-error.ts";
import type { Taint } from "../protocol/taint.ts";
import type { ToolCall } from "../protocol/tool.ts";
import type { ChildCheck } from "./agent/child-checks.ts";

/** A call that was refused before it could start. */
export interface RefusedCall {
  call: number;
  tool: string;
  error: RunError;
}

/**
 * Everything that a machine can request, as data. A host starts the effect, appends its outcome to the journal, and
 * sends that entry to the machine. The machine never sees a promise.
 */
export type Effect =
  /** Without a budget for a model call (`maxOutputTokens` 0) the intent comes from the request alone. */
  | { kind: "assessIntent"; run: string; maxOutputTokens: number }
  /** Asks a person whether the run may begin. */
  | { kind: "askApproval"; run: string; reason: string }
  | {
      kind: "callModel";
      run: string;
      step: number;
      messages: readonly Message[];
      lastTurn: boolean;
      maxOutputTokens: number;
      /** Failed requests of this turn so far. */
      triesBefore: number;
      /** A handler decides the calls in the place of a model. Absent: the model is called. */
      handled?: HandledTurn;
    }
  /** Journals the plan of a turn's calls before any of them starts. */
  | { kind: "planCalls"; run: string; step: number; children: readonly PlannedChild[]; refused: readonly RefusedCall[] }
  /** Without a budget for a model call (`maxOutputTokens` 0) the conversation is cut instead. */
  | { kind: "summarise"; run: string; step: number; messages: readonly Message[]; maxOutputTokens: number }
  /** Journals which results are replaced by placeholders before a turn. */
  | { kind: "trim"; run: string; step: number; results: readonly string[]; tokensBefore: number; tokensAfter: number }
  /** Summarises older messages before a turn. Without a budget for a model call (`maxOutputTokens` 0) they are cut. */
  | ({ kind: "compact"; run: string; step: number; maxOutputTokens: number } & Compaction)
  /** `approved`: a person has allowed this call. */
  | {
      kind: "callTool";
      run: string;
      step: number;
      call: number;
      toolCall: ToolCall;
      approved: boolean;
      /** The approval of this call, with its files. Absent: no person was asked about this call. */
      approval?: ApprovedState;
      /** Calls that a person has allowed for the rest of the run. Absent: none. */
      allowances?: readonly RunAllowance[];
      /** Untrusted and private sources that the run has read so far. */
      taint?: Taint;
    }
  | { kind: "runChild"; run: string; step: number; call: number; item: number; request: RunRequest }
  /** Tells a child and all runs below it to stop. Its response still answers `runChild`. */
  | { kind: "cancelChild"; run: string; step: number; call: number; item: number; request: RunRequest; reason: string }
  /** Journals the response of a child that will not start. */
  | { kind: "dropChild"; run: string; step: number; call: number; item: number; attempt: number; response: RunResponse }
  /** Fires `delayMs` after `since`, by the wall clock. */
  | { kind: "startTimer"; run: string; timer: string; delayMs: number; since: number; retry?: TurnRetry }
  /** Checks results of children, before the model relies on them. */
  | { kind: "checkChildren"; run: string; round: number; checks: readonly ChildCheck[] }
  | {
      kind: "verify";
      run: string;
      round: number;
      verifiers: readonly VerifierSpec[];
      response: RunResponse;
      /** Checks of children's results that had no good outcome. Absent: none. */
      childChecks?: readonly ChildCheck[];
    }
  | { kind: "settle"; run: string; response: RunResponse };

/** The plan for replacing the older part of a conversation by a summary. */
export interface Compaction {
  /** The replaced messages as text. */
  transcript: string;
  /** The longest summary that is stored, by our estimate. */
  textTokensMax: number;
  /** Number of newest messages that stay unchanged. */
  kept: number;
  tokensBefore: number;
  /** Tokens afterwards, without the summary. */
  tokensLeft: number;
}

/** The turn of a handler: what it knows about the run. */
export interface HandledTurn {
  intent: Intent;
  results: readonly HandledResult[];
  turnsLeft: number;
}

/** Why a timer waits before a model call is repeated. For displays only; never stored. */
export interface TurnRetry {
  type: RunErrorType;
  message: string;
  /** Failed requests of this turn. */
  tries: number;
  /** The most requests for one turn; null means no limit. */
  triesMax: number | null;
}

export type EffectKind = Effect["kind"];
export type EffectOf<K extends EffectKind> = Extract<Effect, { kind: K }>;

/** The key of an effect within its run. It is the same after a restart, so that the effect's outcome is found by it. */
export function effectKey(effect: Effect): string {
  switch (effect.kind) {
    case "assessIntent":
      return "intent";
    case "askApproval":
      return "approval";
    case "callModel":
      return `model/${effect.step}`;
    case "planCalls":
      return `plan/${effect.step}`;
    case "summarise":
      return `summary/${effect.step}`;
    case "trim":
      return `trim/${effect.step}`;
    case "compact":
      return `compact/${effect.step}`;
    case "callTool":
      return `tool/${effect.step}/${effect.call}`;
    case "runChild":
      return childKey(effect, effect.request.attempt);
    case "cancelChild":
      return `cancel-${childKey(effect, effect.request.attempt)}`;
    case "dropChild":
      return childKey(effect, effect.attempt);
    case "startTimer":
      return `timer/${effect.timer}`;
    case "checkChildren":
      return `check/${effect.round}`;
    case "verify":
      return `verify/${effect.round}`;
    case "settle":
      return "settle";
  }
}

function childKey({ step, call, item }: { step: number; call: number; item: number }, attempt: number): string {
  return `child/${step}/${call}/${item}/${attempt}`;
}

/** The key of the effect whose outcome an entry is; null if it is not an outcome. */
export function answeredEffect(body: EntryBody): string | null {
  switch (body.kind) {
    case "intent.assessed":
      return "intent";
    case "model.replied":
    case "model.failed":
      return `model/${body.step}`;
    case "calls.planned":
      return `plan/${body.step}`;
    case "context.summarised":
      return `summary/${body.step}`;
    case "context.trimmed":
      return `trim/${body.step}`;
    case "context.compacted":
      return `compact/${body.step}`;
    case "tool.finished":
      return `tool/${body.step}/${body.call}`;
    case "approval.requested":
      return body.step === 0 ? "approval" : `tool/${body.step}/${body.call}`;
    case "child.settled":
      return childKey(body, body.attempt);
    case "timer.fired":
      return `timer/${body.timer}`;
    case "children.checked":
      return `check/${body.round}`;
    case "verify.finished":
      return `verify/${body.round}`;
    case "run.settled":
      return "settle";
    case "inbox.received":
    case "run.opened":
    case "run.claimed":
    case "run.parked":
    case "child.waiting":
    case "tool.started":
      return null;
  }
}

/**
 * The placeholder actor of an effect. A host provides a callback actor in its place, which starts the effect and stops it
 * on cleanup. A machine that runs without a host throws.
 */
export function effectActor<K extends EffectKind>(kind: K) {
  return fromCallback<EventObject, EffectOf<K>>(() => {
    throw new Error(`effect "${kind}" was not provided: run this machine through an actor host`);
  });
}
