import type { EffectOf } from "../../effects.ts";
import { isWaitingForPeople, skipUnheldTime, startClock, stopClock, timeCapMs } from "../clock.ts";
import type { AgentContext } from "../context.ts";
import { isCancel, wholeRunAnswer } from "../events.ts";
import { beginFork } from "../fork.ts";
import { agentBase, type Guard } from "./base.ts";

/** Time, pausing, steering, cancelling and the approval of the whole run. */

export const deadline = "deadline";

export const controlGuards = {
  isApproved: ({ context, event }) => wholeRunAnswer(context, event) === true,
  isDenied: ({ context, event }) => wholeRunAnswer(context, event) === false,
  isCancel: ({ event }) => isCancel(event),
  isSteer: ({ event }) => event.type === "inbox.received" && event.item.kind === "run.steered",
  isPause: ({ event }) => event.type === "inbox.received" && event.item.kind === "run.paused",
  isResume: ({ event }) => event.type === "inbox.received" && event.item.kind === "run.resumed",
  isPaused: ({ context }) => context.paused,
  isNotPaused: ({ context }) => !context.paused,
  /** A deadline that fires while the clock is stopped is void: the clock was stopped before it. */
  isDeadline: ({ context, event }) =>
    event.type === "timer.fired" && event.timer === deadline && context.clock.runningSince !== null,
} satisfies Record<string, Guard>;

export const controlActions = {
  recordTime: agentBase.assign(({ context, event }) =>
    "at" in event ? { lastAt: Math.max(context.lastAt, event.at) } : {},
  ),
  startDeadline: agentBase.enqueueActions(({ context, enqueue }) => {
    enqueue.stopChild(deadline);
    const input = deadlineTimer(context);
    if (input) enqueue.spawnChild("startTimer", { id: deadline, input });
  }),
  /** Must come before `recordTime`. */
  skipUnheldTime: agentBase.assign(({ context, event }) => {
    if (event.type !== "run.claimed") return {};
    return event.forkedFrom ? beginFork(context, event.at) : { clock: skipUnheldTime(context, event.at) };
  }),
  /** Must follow every action that may begin or end a wait for people. */
  syncClock: agentBase.enqueueActions(({ context, enqueue }) => {
    const isStopped = context.clock.runningSince === null;
    if (isWaitingForPeople(context) === isStopped) return;
    const clock = (isStopped ? startClock : stopClock)(context.clock, context.lastAt);
    enqueue.assign({ clock });
    enqueue.stopChild(deadline);
    const input = deadlineTimer({ ...context, clock });
    if (input) enqueue.spawnChild("startTimer", { id: deadline, input });
  }),
  awaitApproval: agentBase.assign(({ event }) =>
    event.type === "approval.requested" ? { pendingApproval: event.approval.id } : {},
  ),
  clearApproval: agentBase.assign({ pendingApproval: null }),
  queueSteerMessage: agentBase.assign(({ context, event }) => {
    if (event.type !== "inbox.received" || event.item.kind !== "run.steered") return {};
    const message = `A message from ${event.item.by}: ${event.item.text}`;
    return { pendingMessages: [...context.pendingMessages, message] };
  }),
  pause: agentBase.assign({ paused: true }),
  resume: agentBase.assign({ paused: false }),
};

/** Fires when the run's active time is used up; null while the clock is stopped. */
function deadlineTimer(context: AgentContext): EffectOf<"startTimer"> | null {
  const { activeMs, runningSince: since } = context.clock;
  if (since === null) return null;
  const delayMs = Math.max(0, timeCapMs(context) - activeMs);
  return { kind: "startTimer", run: context.request.run, timer: deadline, delayMs, since };
}
