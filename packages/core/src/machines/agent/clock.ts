import type { AgentContext } from "./context.ts";

/** The time that counts for a run: it stands still while people are waited for, and while no host holds the run. */
export interface RunClock {
  /** Counted up to `since`. */
  activeMs: number;
  /** When it was started last; null while it stands still. */
  since: number | null;
}

/** A child leaves its parent time to answer. */
const answerReserveMs = 1_000;
/** The turn that begins with less than this share of the time left is told to be the last. */
const lastTurnShare = 0.1;

export function startClock(at: number): RunClock {
  return { activeMs: 0, since: at };
}

/** Whether the run's clock has to stand still: it or a run below it waits for a person. */
export function isWaitingForPeople(context: Pick<AgentContext, "paused" | "awaiting" | "calls" | "children">): boolean {
  if (context.paused || context.awaiting !== null) return true;
  if (context.calls.some(({ phase }) => phase === "waiting")) return true;
  for (const { waiting } of context.children.values()) if (waiting) return true;
  return false;
}

export function stopped(clock: RunClock, at: number): RunClock {
  return clock.since === null ? clock : { activeMs: clock.activeMs + Math.max(0, at - clock.since), since: null };
}

export function started(clock: RunClock, at: number): RunClock {
  return clock.since === null ? { ...clock, since: at } : clock;
}

/** Nobody held the run from its newest entry until now. */
export function takenUp({ clock, lastAt }: Pick<AgentContext, "clock" | "lastAt">, at: number): RunClock {
  return clock.since === null ? clock : { ...stopped(clock, lastAt), since: at };
}

/** Counted time, as of the newest entry. */
export function activeMs({ clock, lastAt }: Pick<AgentContext, "clock" | "lastAt">): number {
  return stopped(clock, lastAt).activeMs;
}

/** From opening to deadline: the run's own cap, or what its parent had left, whichever is less. */
export function timeCapMs({ pin, request }: Pick<AgentContext, "pin" | "request">): number {
  return Math.min(pin.limits.maxDurationMs, request.remainingMs ?? Number.POSITIVE_INFINITY);
}

export function timeLeftMs(context: AgentContext): number {
  return timeCapMs(context) - activeMs(context);
}

/** What a child may take if it is offered now: all that the run has left, as of its newest entry, but the reserve. */
export function childTimeMs(context: AgentContext): number {
  return Math.floor(timeLeftMs(context) - answerReserveMs);
}

export function isShortOfTime(context: AgentContext): boolean {
  return timeLeftMs(context) < timeCapMs(context) * lastTurnShare;
}
