import { type Clock, RunFailure } from "@troupe/core";
import { untilAborted } from "./deadlines.ts";

export interface HostLimiter {
  /** Waits for a free slot of the host, then runs the work. Throws a `RunFailure` while the host is paused. */
  run<T>(host: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** Blocks requests to a host that has sent `Retry-After`. */
  pause(host: string, ms: number): void;
}

interface HostState {
  running: number;
  nextStartMs: number;
  pausedUntilMs: number;
  waiting: (() => void)[];
}

const concurrencyMax = 2;
const hostsMax = 1_000;
const pauseMsMax = 10 * 60_000;

/** Limits the requests of all agents to one host: two at a time, with a gap between the starts, none during a pause. */
export function createHostLimiter(clock: Clock, { gapMs = 200 }: { gapMs?: number } = {}): HostLimiter {
  const hosts = new Map<string, HostState>();

  const stateOf = (host: string): HostState => {
    const state = hosts.get(host) ?? { running: 0, nextStartMs: 0, pausedUntilMs: 0, waiting: [] };
    hosts.delete(host);
    hosts.set(host, state);
    if (hosts.size > hostsMax) evictOne();
    return state;
  };

  /** Removes the least recently used host without requests. */
  const evictOne = (): void => {
    for (const [host, { running, waiting }] of hosts) {
      if (running === 0 && waiting.length === 0) return void hosts.delete(host);
    }
  };

  const acquire = async (state: HostState, signal: AbortSignal): Promise<void> => {
    while (state.running >= concurrencyMax) {
      const { promise, resolve } = Promise.withResolvers<void>();
      state.waiting.push(resolve);
      await untilAborted(promise, signal).catch((reason: unknown) => {
        state.waiting = state.waiting.filter((waiter) => waiter !== resolve);
        // The slot may have been given to this waiter just now: pass it on.
        state.waiting.shift()?.();
        throw reason;
      });
    }
    state.running += 1;
  };

  const release = (state: HostState): void => {
    state.running -= 1;
    state.waiting.shift()?.();
  };

  const waitForGap = async (state: HostState, signal: AbortSignal): Promise<void> => {
    const nowMs = clock.monotonicMs();
    const startMs = Math.max(nowMs, state.nextStartMs);
    state.nextStartMs = startMs + gapMs;
    if (startMs === nowMs) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(startMs - nowMs, resolve);
    await untilAborted(promise, signal).finally(cancel);
  };

  return {
    async run(host, signal, work) {
      const state = stateOf(host);
      await acquire(state, signal);
      try {
        const remainingMs = Math.ceil(state.pausedUntilMs - clock.monotonicMs());
        if (remainingMs > 0) throw pausedHost(host, remainingMs);
        await waitForGap(state, signal);
        return await work();
      } finally {
        release(state);
      }
    },
    pause(host, ms) {
      stateOf(host).pausedUntilMs = clock.monotonicMs() + Math.min(ms, pauseMsMax);
    },
  };
}

function pausedHost(host: string, remainingMs: number): RunFailure {
  const seconds = Math.ceil(remainingMs / 1_000);
  return new RunFailure({
    type: "rate_limit",
    message: `${host} accepts no requests for another ${seconds} s (Retry-After); use another source meanwhile`,
    recoverable: true,
    retryAfterMs: remainingMs,
  });
}
