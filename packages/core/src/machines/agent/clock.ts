import type { AgentContext } from "./context.ts";

/** The time that counts for a run. It stops while the run waits for a person and while no host holds the run. */
export interface RunClock {
  /** Active time up to `runningSince`. */
  activeMs: number;
  /** When the clock was started last; null while it is stopped. */
  runningSince: number | null;
}

/** A child leaves its parent this long to answer. */
const answerReserveMs = 1_000;
/** A turn that begins with less than this share of the time left is the last. */
const lastTurnShare = 0.1;

export function openClock(at: number): RunClock {
  return { activeMs: 0, runningSince: at };
}

/** Whether the run's clock has to be stopped: the run or a run below it waits for a person. */
export function isWaitingForPeople(
  context: Pick<AgentContext, "paused" | "pendingApproval" | "calls" | "children">,
): boolean {
  if (context.paused || context.pendingApproval !== null) return true;
  if (context.calls.some(({ phase }) => phase === "waiting")) return true;
  for (const { waiting } of context.children.values()) if (waiting) return true;
  return false;
}

export function stopClock(clock: RunClock, at: number): RunClock {
  if (clock.runningSince === null) return clock;
  return { activeMs: clock.activeMs + Math.max(0, at - clock.runningSince), runningSince: null };
}

export function startClock(clock: RunClock, at: number): RunClock {
  return clock.runningSince === null ? { ...clock, runningSince: at } : clock;
}

/** The clock after a new claim: no host held the run between its newest entry and `at`, so that time is left out. */
export function skipUnheldTime({ clock, lastAt }: Pick<AgentContext, "clock" | "lastAt">, at: number): RunClock {
  return clock.runningSince === null ? clock : { ...stopClock(clock, lastAt), runningSince: at };
}

/** Active time, as of the newest entry. */
export function activeMs({ clock, lastAt }: Pick<AgentContext, "clock" | "lastAt">): number {
  return stopClock(clock, lastAt).activeMs;
}

/** Active time from opening to deadline: the smaller of the run's own cap and its parent's remaining time. */
export function timeCapMs({ pin, request }: Pick<AgentContext, "pin" | "request">): number {
  return Math.min(pin.limits.maxDurationMs, request.remainingMs ?? Number.POSITIVE_INFINITY);
}

export function timeLeftMs(context: AgentContext): number {
  return timeCapMs(context) - activeMs(context);
}

/** The time that a child may take if it starts now: the run's time left, minus the reserve for its own answer. */
export function childTimeMs(context: AgentContext): number {
  return Math.floor(timeLeftMs(context) - answerReserveMs);
}

export function isShortOfTime(context: AgentContext): boolean {
  return timeLeftMs(context) < timeCapMs(context) * lastTurnShare;
}
