import { type Clock, RunFailure } from "@troupe/core";
import { untilAborted } from "./deadlines.ts";

export interface Politeness {
  /** Does a piece of work with a host when it is its turn. */
  withHost<T>(host: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** The host has asked to be left alone for a while. */
  rest(host: string, ms: number): void;
}

interface HostPlace {
  busy: number;
  nextAtMs: number;
  restUntilMs: number;
  waiting: (() => void)[];
}

const atOnceMax = 2;
const hostsMax = 1_000;
const restMsMax = 10 * 60_000;

/** However many agents read the same site: two requests at a time, a moment between them, and none while it wants rest. */
export function createPoliteness(clock: Clock, { gapMs = 200 }: { gapMs?: number } = {}): Politeness {
  const hosts = new Map<string, HostPlace>();

  const placeOf = (host: string): HostPlace => {
    const place = hosts.get(host) ?? { busy: 0, nextAtMs: 0, restUntilMs: 0, waiting: [] };
    hosts.delete(host);
    hosts.set(host, place);
    if (hosts.size > hostsMax) forgetOne();
    return place;
  };

  /** The one that was used longest ago and is not in use. */
  const forgetOne = (): void => {
    for (const [host, { busy, waiting }] of hosts) {
      if (busy === 0 && waiting.length === 0) return void hosts.delete(host);
    }
  };

  const enter = async (place: HostPlace, signal: AbortSignal): Promise<void> => {
    while (place.busy >= atOnceMax) {
      const { promise, resolve } = Promise.withResolvers<void>();
      place.waiting.push(resolve);
      await untilAborted(promise, signal).catch((reason: unknown) => {
        place.waiting = place.waiting.filter((each) => each !== resolve);
        // It may have been this one's turn just now: then it is the next one's.
        place.waiting.shift()?.();
        throw reason;
      });
    }
    place.busy += 1;
  };

  const leave = (place: HostPlace): void => {
    place.busy -= 1;
    place.waiting.shift()?.();
  };

  const pause = async (place: HostPlace, signal: AbortSignal): Promise<void> => {
    const nowMs = clock.monotonicMs();
    const atMs = Math.max(nowMs, place.nextAtMs);
    place.nextAtMs = atMs + gapMs;
    if (atMs === nowMs) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(atMs - nowMs, resolve);
    await untilAborted(promise, signal).finally(cancel);
  };

  return {
    async withHost(host, signal, work) {
      const place = placeOf(host);
      await enter(place, signal);
      try {
        const leftMs = Math.ceil(place.restUntilMs - clock.monotonicMs());
        if (leftMs > 0) throw resting(host, leftMs);
        await pause(place, signal);
        return await work();
      } finally {
        leave(place);
      }
    },
    rest(host, ms) {
      placeOf(host).restUntilMs = clock.monotonicMs() + Math.min(ms, restMsMax);
    },
  };
}

function resting(host: string, leftMs: number): RunFailure {
  return new RunFailure({
    type: "rate_limit",
    message: `${host} has asked to be left alone for another ${Math.ceil(leftMs / 1_000)} s; use another source meanwhile`,
    recoverable: true,
    retryAfterMs: leftMs,
  });
}
