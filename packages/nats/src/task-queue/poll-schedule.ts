import type { Logger } from "@troupe/core";
import { type Bus, type Clock, type Subscription, TroupeError } from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";
import type { Lane } from "./lane.ts";

/**
 * When a lane is looked into once more after a hint. The server confirms an offer before it has told the consumers of
 * it: two looks of a thousand, being as quick as they are, found nothing there, and the task lay until the next sweep.
 */
const againAfterMs = [25, 250];

export interface WatchOptions {
  bus: Bus;
  subjects: Subjects;
  clock: Clock;
  logger: Logger;
  /** How often every lane is looked into without a hint. */
  sweepMs: number;
  /** The same for a while after `hurry`. */
  hurry: { everyMs: number; forMs: number };
  /** How long all others have a task to themselves that this process leaves to them. */
  othersFirstMs: number;
  /** Tells this process's own hints from others'. */
  id: string;
}

/** Which lanes are worth looking into. It errs on the side of looking: a hint may be lost, a sweep never is. */
export interface Watch {
  /** What this process serves from now on; hints about all of it are heard once this resolves. */
  serve(lanes: readonly Lane[]): Promise<void>;
  /** There may be something to take. */
  mark(lane: Lane): void;
  /** There may be something everywhere. */
  markAll(): void;
  /**
   * Takes lanes that are worth a look out of the list, with how much of `room` each gets. The longest unasked first, and
   * none of those that were just found empty.
   */
  next(room: number, empty: ReadonlySet<string>): { lane: Lane; batch: number }[];
  /** Puts one back, behind all others. */
  putBack(lane: Lane): void;
  /** Says to everybody that there is something to take. */
  announce(lane: Lane): void;
  /** The same, but to all others: this process looks there of its own accord after a while. */
  leaveToOthers(lane: Lane): void;
  onHint(listener: () => void): () => void;
  hurry(): void;
  close(): void;
}

export function createWatch({ bus, subjects, clock, logger, sweepMs, hurry, othersFirstMs, id }: WatchOptions): Watch {
  /** Null until it is known what is served here: everything is of interest then. */
  let served: Map<string, Served> | null = null;
  const worthALook = new Map<string, Lane>();
  /** What stops the further looks after a hint, by lane. */
  const further = new Map<string, () => void>();
  const listeners = new Set<() => void>();
  const own = new TextEncoder().encode(id);
  let hurriedUntilMs = 0;
  let telling = false;
  let closed = false;
  let stopSweep = (): void => {};

  /** Once for all that is said in one go, and after it. */
  const tell = (): void => {
    if (telling) return;
    telling = true;
    queueMicrotask(() => {
      telling = false;
      for (const listener of [...listeners]) if (listeners.has(listener)) listener();
    });
  };
  const mark = (lane: Lane): void => {
    if (closed || served?.has(lane.consumer) === false) return;
    if (!worthALook.has(lane.consumer)) worthALook.set(lane.consumer, lane);
    // Also for one that waits to be looked into: whoever had no room for it then may have it now.
    tell();
  };
  const hinted = (lane: Lane): void => {
    mark(lane);
    if (closed || served?.has(lane.consumer) === false) return;
    further.get(lane.consumer)?.();
    const cancels = againAfterMs.map((delayMs) => clock.after(delayMs, () => mark(lane)));
    further.set(lane.consumer, () => {
      for (const cancel of cancels) cancel();
    });
  };
  const markAll = (): void => {
    for (const { lane } of served?.values() ?? []) mark(lane);
  };
  const sweepLater = (): void => {
    const everyMs = clock.monotonicMs() < hurriedUntilMs ? hurry.everyMs : sweepMs;
    stopSweep = clock.after(everyMs, () => {
      sweepLater();
      markAll();
    });
  };
  const listenTo = (lane: Lane): Served => ({ lane, subscription: subscribe(lane) });
  const subscribe = async (lane: Lane): Promise<Subscription | null> => {
    try {
      return await bus.subscribe(subjects.hint(lane.locality, lane.agent), ({ bytes }) => {
        if (Buffer.compare(bytes, own) !== 0) hinted(lane);
      });
    } catch (error) {
      if (!closed) logger.warn({ lane, err: error }, "hints cannot be heard: tasks are found by looking for them");
      return null;
    }
  };
  const drop = ({ lane, subscription }: Served): void => {
    worthALook.delete(lane.consumer);
    further.get(lane.consumer)?.();
    further.delete(lane.consumer);
    void subscription.then((found) => found?.unsubscribe());
  };

  const tellOthers = (lane: Lane): void => {
    try {
      bus.publish(subjects.hint(lane.locality, lane.agent), own);
    } catch (error) {
      if (!TroupeError.is(error) || error.code !== "CLOSED") throw error;
    }
  };

  sweepLater();
  return {
    async serve(lanes) {
      if (served?.size === lanes.length && lanes.every(({ consumer }) => served?.has(consumer))) return;
      const before = served;
      served = new Map(lanes.map((lane) => [lane.consumer, before?.get(lane.consumer) ?? listenTo(lane)]));
      for (const old of before?.values() ?? []) if (!served.has(old.lane.consumer)) drop(old);
      // Only then is nothing missed between the first look and the first hint.
      await Promise.all([...served.values()].map(({ subscription }) => subscription));
      for (const lane of lanes) if (!before?.has(lane.consumer)) mark(lane);
    },
    mark,
    markAll,
    next(room, empty) {
      const lanes = [...worthALook.values()]
        .filter(({ consumer }) => !empty.has(consumer) && served?.has(consumer))
        .slice(0, room);
      const [share, rest] = [Math.floor(room / lanes.length), room % lanes.length];
      for (const { consumer } of lanes) worthALook.delete(consumer);
      return lanes.map((lane, i) => ({ lane, batch: share + (i < rest ? 1 : 0) }));
    },
    putBack(lane) {
      if (!closed && served?.has(lane.consumer)) worthALook.set(lane.consumer, lane);
    },
    announce(lane) {
      hinted(lane);
      tellOthers(lane);
    },
    leaveToOthers(lane) {
      if (closed) return;
      tellOthers(lane);
      clock.after(othersFirstMs, () => mark(lane));
    },
    onHint(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    hurry() {
      if (closed) return;
      hurriedUntilMs = clock.monotonicMs() + hurry.forMs;
      stopSweep();
      sweepLater();
      markAll();
    },
    close() {
      closed = true;
      stopSweep();
      listeners.clear();
      for (const each of served?.values() ?? []) drop(each);
      for (const stop of further.values()) stop();
      worthALook.clear();
    },
  };
}

interface Served {
  lane: Lane;
  subscription: Promise<Subscription | null>;
}
