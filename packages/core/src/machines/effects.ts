import { type EventObject, fromCallback } from "xstate";
import type { VerifierSpec } from "../protocol/agent.ts";
import type { EntryBody, PlannedChild } from "../protocol/entry.ts";
import type { Message } from "../protocol/model.ts";
import type { RunRequest } from "../protocol/request.ts";
import type { RunResponse } from "../protocol/response.ts";
import type { RunError, RunErrorType } from "../protocol/run-error.ts";
import type { ToolCall } from "../protocol/tool.ts";

/** A delegate call or another that was refused before it could start. */
export interface RefusedCall {
  call: number;
  tool: string;
  error: RunError;
}

/**
 * Everything that a machine can want from the world, as data. A host starts the effect, appends its outcome to the
 * journal, and feeds that entry back; the machine never sees a promise.
 */
export type Effect =
  /** With no room for a model call (`maxOutputTokens` 0) the intent is the direct one. */
  | { kind: "assessIntent"; run: string; maxOutputTokens: number }
  /** Asks a person whether the run may begin at all. */
  | { kind: "askApproval"; run: string; reason: string }
  | {
      kind: "callModel";
      run: string;
      step: number;
      messages: readonly Message[];
      lastTurn: boolean;
      maxOutputTokens: number;
      /** Requests that were made for this turn already, and failed. */
      triesBefore: number;
    }
  /** Writes down what becomes of a turn's calls, before any of them starts. */
  | { kind: "planCalls"; run: string; step: number; children: readonly PlannedChild[]; refused: readonly RefusedCall[] }
  /** With no room for a model call (`maxOutputTokens` 0) the conversation is cut instead. */
  | { kind: "summarise"; run: string; step: number; messages: readonly Message[]; maxOutputTokens: number }
  /** Writes down which results give way to references before a turn. */
  | { kind: "trim"; run: string; step: number; results: readonly string[]; tokensBefore: number; tokensAfter: number }
  /** Sums up what gives way before a turn; with no room for a model call (`maxOutputTokens` 0) it is cut instead. */
  | ({ kind: "compact"; run: string; step: number; maxOutputTokens: number } & Compaction)
  /** `approved`: a person has allowed this very call. */
  | { kind: "callTool"; run: string; step: number; call: number; toolCall: ToolCall; approved: boolean }
  | { kind: "runChild"; run: string; step: number; call: number; item: number; request: RunRequest }
  /** Tells a child, and all below it, to stop. Its response comes by the effect that runs it. */
  | { kind: "cancelChild"; run: string; step: number; call: number; item: number; request: RunRequest; reason: string }
  /** Writes down the response of a child that never got as far as being asked. */
  | { kind: "dropChild"; run: string; step: number; call: number; item: number; attempt: number; response: RunResponse }
  /** Fires when `delayMs` have gone since `since`, by the wall clock. */
  | { kind: "startTimer"; run: string; timer: string; delayMs: number; since: number; retry?: TurnRetry }
  | { kind: "verify"; run: string; round: number; verifiers: readonly VerifierSpec[]; response: RunResponse }
  | { kind: "settle"; run: string; response: RunResponse };

/** The part of a conversation that gives way to a summary, and what is left of it. */
export interface Compaction {
  /** What gives way, as a text. */
  transcript: string;
  /** The longest summary that is kept, by our estimate. */
  textTokensMax: number;
  /** How many of the newest messages stay as they are. */
  kept: number;
  tokensBefore: number;
  /** Without the summary. */
  tokensLeft: number;
}

/** What a timer is for, after which a model is asked again: shown, and kept nowhere. */
export interface TurnRetry {
  type: RunErrorType;
  message: string;
  /** Requests that have failed for this turn, of at most so many; null: as many as it takes. */
  tries: number;
  triesMax: number | null;
}

export type EffectKind = Effect["kind"];
export type EffectOf<K extends EffectKind> = Extract<Effect, { kind: K }>;

/** The name of an effect within its run: the same before and after a restart, by which its outcome is found. */
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
    case "verify":
      return `verify/${effect.round}`;
    case "settle":
      return "settle";
  }
}

function childKey({ step, call, item }: { step: number; call: number; item: number }, attempt: number): string {
  return `child/${step}/${call}/${item}/${attempt}`;
}

/** The effect whose outcome an entry is; null for an entry that answers none. */
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
 * The place of an effect in a machine. A host replaces each by a callback actor that starts the real thing and stops
 * it on cleanup; a machine run without a host fails loudly.
 */
export function effectPlace<K extends EffectKind>(kind: K) {
  return fromCallback<EventObject, EffectOf<K>>(() => {
    throw new Error(`effect "${kind}" was not provided: run this machine through an actor host`);
  });
}
