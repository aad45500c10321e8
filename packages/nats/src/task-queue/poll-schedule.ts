import { type Bus, type Clock, type Logger, type Subscription, TroupeError } from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";
import type { Lane } from "./consumers.ts";

/**
 * Delays of two further polls after a hint. The server confirms an offer before its consumers can deliver it: of a thousand
 * polls right after a hint, two found nothing, and the task waited for the next periodic poll.
 */
const pollAgainAfterMs = [25, 250];

export interface PollScheduleOptions {
  bus: Bus;
  subjects: Subjects;
  clock: Clock;
  logger: Logger;
  /** Interval between two polls of every lane, without a hint. */
  pollMs: number;
  /** The same for a while after `pollFaster`. */
  fastPoll: { everyMs: number; forMs: number };
  /** Head start of the other hosts for a task that this process leaves to them. */
  othersFirstMs: number;
  /** Identifies this process's own hints. */
  id: string;
}

/** Tells which lanes to poll. When in doubt it polls: a hint may be lost, the periodic poll never is. */
export interface PollSchedule {
  /** Sets the lanes of this process. Resolves when the process receives the hints about all of them. */
  serve(lanes: readonly Lane[]): Promise<void>;
  /** The lane may have a task. */
  mark(lane: Lane): void;
  /** Every lane may have a task. */
  markAll(): void;
  /**
   * Removes lanes from the schedule and returns them, with the number of tasks to request from each: `capacity` in total.
   * Lanes that waited longest come first. Lanes in `empty` stay in the schedule.
   */
  next(capacity: number, empty: ReadonlySet<string>): { lane: Lane; batch: number }[];
  /** Adds a lane again, behind all others. */
  reschedule(lane: Lane): void;
  /** Tells all processes that the lane has a task. */
  announce(lane: Lane): void;
  /** Tells the other processes only. This process polls the lane after their head start. */
  leaveToOthers(lane: Lane): void;
  onHint(listener: () => void): () => void;
  /** Polls more often for a while. */
  pollFaster(): void;
  close(): void;
}

export function createPollSchedule({
  bus,
  subjects,
  clock,
  logger,
  pollMs,
  fastPoll,
  othersFirstMs,
  id,
}: PollScheduleOptions): PollSchedule {
  /** Null before the first call of `serve`: until then every lane is accepted. */
  let served: Map<string, ServedLane> | null = null;
  const scheduled = new Map<string, Lane>();
  /** Cancels the further polls after a hint, by lane. */
  const furtherPolls = new Map<string, () => void>();
  const listeners = new Set<() => void>();
  const ownHint = new TextEncoder().encode(id);
  let fastUntilMs = 0;
  let isNotifying = false;
  let closed = false;
  let stopPolling = (): void => {};

  /** Calls the listeners once for all marks of one turn. */
  const notify = (): void => {
    if (isNotifying) return;
    isNotifying = true;
    queueMicrotask(() => {
      isNotifying = false;
      for (const listener of [...listeners]) if (listeners.has(listener)) listener();
    });
  };
  const mark = (lane: Lane): void => {
    if (closed || served?.has(lane.consumer) === false) return;
    if (!scheduled.has(lane.consumer)) scheduled.set(lane.consumer, lane);
    // Also for a lane that is already scheduled: a host without capacity before may have capacity now.
    notify();
  };
  const onLaneHint = (lane: Lane): void => {
    mark(lane);
    if (closed || served?.has(lane.consumer) === false) return;
    furtherPolls.get(lane.consumer)?.();
    const cancels = pollAgainAfterMs.map((delayMs) => clock.after(delayMs, () => mark(lane)));
    furtherPolls.set(lane.consumer, () => {
      for (const cancel of cancels) cancel();
    });
  };
  const markAll = (): void => {
    for (const { lane } of served?.values() ?? []) mark(lane);
  };
  const pollLater = (): void => {
    const everyMs = clock.monotonicMs() < fastUntilMs ? fastPoll.everyMs : pollMs;
    stopPolling = clock.after(everyMs, () => {
      pollLater();
      markAll();
    });
  };
  const subscribe = async (lane: Lane): Promise<Subscription | null> => {
    try {
      return await bus.subscribe(subjects.hint(lane.locality, lane.agent), ({ bytes }) => {
        if (Buffer.compare(bytes, ownHint) !== 0) onLaneHint(lane);
      });
    } catch (error) {
      if (!closed) logger.warn({ lane, err: error }, "no hints about tasks: they are found by periodic polls only");
      return null;
    }
  };
  const drop = ({ lane, subscription }: ServedLane): void => {
    scheduled.delete(lane.consumer);
    furtherPolls.get(lane.consumer)?.();
    furtherPolls.delete(lane.consumer);
    void subscription.then((found) => found?.unsubscribe());
  };

  const publishHint = (lane: Lane): void => {
    try {
      bus.publish(subjects.hint(lane.locality, lane.agent), ownHint);
    } catch (error) {
      if (!TroupeError.is(error) || error.code !== "CLOSED") throw error;
    }
  };

  pollLater();
  return {
    async serve(lanes) {
      if (served?.size === lanes.length && lanes.every(({ consumer }) => served?.has(consumer))) return;
      const before = served;
      served = new Map(
        lanes.map((lane) => [lane.consumer, before?.get(lane.consumer) ?? { lane, subscription: subscribe(lane) }]),
      );
      for (const old of before?.values() ?? []) if (!served.has(old.lane.consumer)) drop(old);
      // Subscribe first: then no hint is missed between the first poll and the first hint.
      await Promise.all([...served.values()].map(({ subscription }) => subscription));
      for (const lane of lanes) if (!before?.has(lane.consumer)) mark(lane);
    },
    mark,
    markAll,
    next(capacity, empty) {
      const lanes = [...scheduled.values()]
        .filter(({ consumer }) => !empty.has(consumer) && served?.has(consumer))
        .slice(0, capacity);
      const [share, rest] = [Math.floor(capacity / lanes.length), capacity % lanes.length];
      for (const { consumer } of lanes) scheduled.delete(consumer);
      return lanes.map((lane, i) => ({ lane, batch: share + (i < rest ? 1 : 0) }));
    },
    reschedule(lane) {
      if (!closed && served?.has(lane.consumer)) scheduled.set(lane.consumer, lane);
    },
    announce(lane) {
      onLaneHint(lane);
      publishHint(lane);
    },
    leaveToOthers(lane) {
      if (closed) return;
      publishHint(lane);
      clock.after(othersFirstMs, () => mark(lane));
    },
    onHint(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    pollFaster() {
      if (closed) return;
      fastUntilMs = clock.monotonicMs() + fastPoll.forMs;
      stopPolling();
      pollLater();
      markAll();
    },
    close() {
      closed = true;
      stopPolling();
      listeners.clear();
      for (const each of served?.values() ?? []) drop(each);
      for (const cancel of furtherPolls.values()) cancel();
      scheduled.clear();
    },
  };
}

interface ServedLane {
  lane: Lane;
  subscription: Promise<Subscription | null>;
}
