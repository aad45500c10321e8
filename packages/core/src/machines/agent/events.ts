import type { InboxItem } from "../../protocol/inbox.ts";
import type { BatchOutput, BatchUpdate } from "../batch/machine.ts";
import type { FactOf, RunFact } from "../facts.ts";
import type { AgentContext, CallState } from "./context.ts";
import type { TaskPosition } from "./task-ids.ts";

/** Every event that an agent machine can receive. */
export type AgentEvent =
  | RunFact
  | BatchUpdate
  | { type: `xstate.done.actor.batch/${string}`; output: BatchOutput }
  /** A hint for the delegation of that task; never in the journal. */
  | ({ type: "child.claimed" } & TaskPosition);

export function isCancel(event: AgentEvent): boolean {
  return event.type === "inbox.received" && isCancelItem(event.item);
}

export function isCancelItem({ kind }: Pick<InboxItem, "kind">): boolean {
  return kind === "session.cancelled" || kind === "run.cancelled";
}

/** A person's answer to the approval of the whole run; null for any other event. */
export function wholeRunAnswer({ pendingApproval }: AgentContext, event: AgentEvent): boolean | null {
  if (event.type !== "inbox.received" || event.item.kind !== "approval.answered") return null;
  return event.item.approval === pendingApproval ? event.item.approved : null;
}

/** The waiting call that a person's answer is for; null if no call waits for it. */
export function answeredCall({ calls }: AgentContext, event: AgentEvent): CallState | null {
  if (event.type !== "inbox.received" || event.item.kind !== "approval.answered") return null;
  const { approval } = event.item;
  return calls.find((call) => call.phase === "waiting" && call.approval === approval) ?? null;
}

export function isCurrentRound({ verifyRound }: AgentContext, event: AgentEvent): event is FactOf<"verify.finished"> {
  return event.type === "verify.finished" && event.round === verifyRound;
}

/** Whether the event is the reply to the running model call. */
export function isCurrentReply({ step }: AgentContext, event: AgentEvent): event is FactOf<"model.replied"> {
  return event.type === "model.replied" && event.step === step;
}
