import { type EventObject, fromCallback } from "xstate";
import type { Risk, VerifierSpec } from "../protocol/agent.ts";
import type { EntryBody } from "../protocol/entry.ts";
import type { InboxItem } from "../protocol/inbox.ts";
import type { Message } from "../protocol/model.ts";
import type { RunRequest } from "../protocol/request.ts";
import type { RunResponse } from "../protocol/response.ts";
import type { ToolCall } from "../protocol/tool.ts";

/**
 * Everything that a machine can want from the world, as data. A host starts the effect, appends its outcome to the
 * journal, and feeds that entry back; the machine never sees a promise.
 */
export type Effect =
  | { kind: "assessIntent"; run: string }
  | { kind: "awaitApproval"; run: string; risk: Risk }
  | { kind: "callModel"; run: string; step: number; messages: readonly Message[]; lastTurn: boolean }
  | { kind: "callTool"; run: string; step: number; call: number; toolCall: ToolCall }
  | { kind: "runChild"; run: string; step: number; call: number; request: RunRequest }
  | { kind: "startTimer"; run: string; timer: string; delayMs: number }
  | { kind: "verify"; run: string; round: number; verifiers: readonly VerifierSpec[]; response: RunResponse }
  | { kind: "settle"; run: string; response: RunResponse };

export type EffectKind = Effect["kind"];
export type EffectOf<K extends EffectKind> = Extract<Effect, { kind: K }>;

/** The name of an effect within its run: the same before and after a restart, by which its outcome is found. */
export function effectKey(effect: Effect): string {
  switch (effect.kind) {
    case "assessIntent":
      return "intent";
    case "awaitApproval":
      return "approval";
    case "callModel":
      return `model/${effect.step}`;
    case "callTool":
      return `tool/${effect.step}/${effect.call}`;
    case "runChild":
      return `child/${effect.step}/${effect.call}/${effect.request.attempt}`;
    case "startTimer":
      return `timer/${effect.timer}`;
    case "verify":
      return `verify/${effect.round}`;
    case "settle":
      return "settle";
  }
}

/**
 * The effect whose outcome an entry is; null for an entry that answers none. With the `run` of its head, an answer that
 * is about another run of the session is told apart.
 */
export function answeredEffect(body: EntryBody & { run?: string }): string | null {
  switch (body.kind) {
    case "intent.assessed":
      return "intent";
    case "model.replied":
    case "model.failed":
      return `model/${body.step}`;
    case "tool.finished":
      return `tool/${body.step}/${body.call}`;
    case "child.settled":
      return `child/${body.step}/${body.call}/${body.attempt}`;
    case "timer.fired":
      return `timer/${body.timer}`;
    case "verify.finished":
      return `verify/${body.round}`;
    case "run.settled":
      return "settle";
    case "inbox.received":
      return isApprovalOf(body.run ?? null, body.item) ? "approval" : null;
    case "run.opened":
    case "run.claimed":
    case "run.parked":
    case "tool.started":
      return null;
  }
}

function isApprovalOf(run: string | null, item: InboxItem): boolean {
  return item.kind === "approval.answered" && (run === null || run === item.run);
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
