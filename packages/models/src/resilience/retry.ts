import type { RunError } from "@troupe/core";
import { wasNotCharged } from "@troupe/core/internal";

/** A failure that may be over by the next try. */
export function isTransient({ type, recoverable }: RunError): boolean {
  return recoverable && (type === "rate_limit" || type === "network" || type === "timeout");
}

/** A transient failure of a request that the provider surely did not work on: repeating it costs nothing. */
export function isRetryable(error: RunError): boolean {
  return isTransient(error) && wasNotCharged(error);
}

/** Requests that one model call makes at most, the first included. */
export const triesMax = 5;
/** A call that would have to wait longer than this fails instead; its run waits with a timer that survives a restart. */
export const waitMsMax = 30_000;

const backoffFirstMs = 500;
/** Reaches the longest wait, half a minute, with the fourth and last retry. */
const backoffGrowth = 4;

/**
 * Delay before the next request: a random share (full jitter) of a bound that grows exponentially, so that calls that
 * failed together do not return together. Never less than the provider asked for.
 *
 * @param tries requests that have failed so far
 */
export function backoffMs(tries: number, retryAfterMs: number | null, random: () => number): number {
  const boundMs = Math.min(waitMsMax, backoffFirstMs * backoffGrowth ** (tries - 1));
  return Math.max(Math.round(random() * boundMs), retryAfterMs ?? 0);
}

/** Limits a provider's retries to a share of its calls, so that retries do not double the load of an outage. */
export interface RetryBudget {
  /** Counts the first request of a call. */
  noteCall(nowMs: number): void;
  /** Counts a retry that its run already waited for with a durable timer. It is never refused. */
  noteRetry(nowMs: number): void;
  /** Reserves one retry; false when the budget is spent. */
  take(nowMs: number): boolean;
}

const windowMs = 60_000;
const slotMs = 1_000;
/** Retries per call within the window. */
const retriesShareMax = 0.5;
/** Retries per window that are always allowed, however few calls there are. */
const retriesAlways = 10;

export function createRetryBudget(): RetryBudget {
  let slots: { startMs: number; calls: number; retries: number }[] = [];

  const slotAt = (nowMs: number) => {
    const last = slots.at(-1);
    if (last && nowMs < last.startMs + slotMs) return last;
    const opened = { startMs: nowMs, calls: 0, retries: 0 };
    slots = [...slots.filter(({ startMs }) => startMs > nowMs - windowMs), opened];
    return opened;
  };

  const noteRetry = (nowMs: number): void => {
    slotAt(nowMs).retries += 1;
  };
  return {
    noteRetry,
    noteCall(nowMs) {
      slotAt(nowMs).calls += 1;
    },
    take(nowMs) {
      const recent = slots.filter(({ startMs }) => startMs > nowMs - windowMs);
      const calls = recent.reduce((sum, slot) => sum + slot.calls, 0);
      const retries = recent.reduce((sum, slot) => sum + slot.retries, 0);
      const isAllowed = retries + 1 <= Math.max(retriesAlways, calls * retriesShareMax);
      if (isAllowed) noteRetry(nowMs);
      return isAllowed;
    },
  };
}
