import { randomUUID } from "node:crypto";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import {
  type Blobs,
  type Bus,
  type Clock,
  type Logger,
  type TakenTask,
  type TaskQueue,
  TroupeError,
} from "@troupe/core";
import {
  ageMs,
  createInvalidMessages,
  type InvalidMessages,
  leaseMsDefault,
  type Subjects,
} from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import { createRequester } from "../connection/requester.ts";
import { createConsumers, type Lane, laneOf, lanesOf } from "./consumers.ts";
import { createHeldTasks } from "./held-tasks.ts";
import { createInvalidTasks } from "./invalid-tasks.ts";
import { createOffers } from "./offers.ts";
import { createPollSchedule } from "./poll-schedule.ts";
import { createPulls, type Delivery } from "./pulls.ts";
import { decodeTask, encodeTask } from "./wire.ts";

export interface NatsTaskQueueOptions {
  link: NatsLink;
  /** Carries the hints. */
  bus: Bus;
  subjects: Subjects;
  /** The same namespace as that of `subjects`. @default "troupe" */
  namespace?: string;
  /** How long a task stays with a host that has died. @default 8_000, which is `leaseMsDefault` */
  leaseMs?: number;
  /** Interval between two polls of every consumer, without a hint. @default 5_000 */
  sweepMs?: number;
  /** Time limit of an offer, over all attempts. @default 5_000 */
  offerPatienceMs?: number;
  clock: Clock;
  logger: Logger;
  /** Counts invalid messages in the work queue. @default a counter of its own */
  invalidMessages?: InvalidMessages;
  /** Stores requests over 256 KiB. Without it a request must fit into a message. */
  blobs?: Blobs;
}

export interface NatsTaskQueue extends TaskQueue {
  /** Number of messages in the work queue that troupe did not write. */
  readonly refused: number;
}

/**
 * Opens the task queue over an existing JetStream work queue (`ensureStreams`). An offer is a message, one at most for each
 * run. Each agent has a durable consumer in each locality, created on first use.
 *
 * The queue polls a consumer only after a hint or at an interval, and never leaves a pull open: an open pull would receive
 * tasks that the process cannot take any more. Without a connection `take` returns nothing, and held tasks become uncertain
 * after 60 % of a lease.
 *
 * @example
 * const queue = await createNatsTaskQueue({ link, bus, subjects: createSubjects(), clock: systemClock(), logger });
 * queue.onHint(async () => {
 *   for (const task of await queue.take({ agents: ["coder"], localities: [], max: 4 })) await task.finish();
 * });
 */
export async function createNatsTaskQueue(options: NatsTaskQueueOptions): Promise<NatsTaskQueue> {
  const { link, bus, subjects, namespace = "troupe", leaseMs = leaseMsDefault, clock, logger, blobs } = options;
  const stream = `${namespace}_tasks`;
  const manager = await jetstreamManager(link.connection, { checkAPI: false });
  let closed = false;

  const schedule = createPollSchedule({
    ...{ bus, subjects, clock, logger },
    pollMs: options.sweepMs ?? 5_000,
    fastPoll: { everyMs: leaseMs / 8, forMs: 2 * leaseMs },
    othersFirstMs: leaseMs / 16,
    id: randomUUID(),
  });
  const consumers = createConsumers({ manager, stream, subjects, ackWaitMs: 0.75 * leaseMs, logger });
  const invalidMessages = options.invalidMessages ?? createInvalidMessages();
  const invalidTasks = createInvalidTasks({ link, logger, leaseMs, invalidMessages });
  const requester = createRequester({ link, clock });
  const heldTasks = createHeldTasks({
    ...{ link, requester, clock, leaseMs },
    isGone: (delivery) => isGone(manager, stream, delivery),
    leaveToOthers(subject) {
      const task = subjects.parse(subject);
      if (task?.kind === "task") schedule.leaveToOthers(laneOf(task));
    },
  });
  const pulls = createPulls({ link, stream, clock, timeoutMs: Math.min(2_000, leaseMs / 4) });
  const offers = createOffers({
    ...{ link, requester, manager, stream, clock },
    timeoutMs: options.offerPatienceMs ?? 5_000,
    isClosed: () => closed,
  });
  const stopListening = link.onEvent(({ kind }) => {
    if (kind !== "reconnected") return;
    void heldTasks.afterReconnect();
    schedule.markAll();
  });

  const accept = async (delivery: Delivery, certainMs: number): Promise<TakenTask | null> => {
    if (heldTasks.adopt(delivery)) return null;
    const task = await decodeTask(delivery, { subjects, blobs });
    // If this process was suspended for long, the server has delivered the task to another one, or will do so.
    if (closed || ageMs(clock, delivery.requestedAt) >= certainMs) return null;
    if (task.kind === "foreign") invalidTasks.remove(delivery, task.reason);
    else if (task.kind === "later") invalidTasks.putOff(delivery, task.reason);
    else return heldTasks.hold({ run: task.run, bytes: task.bytes, delivery, certainMs });
    return null;
  };

  const poll = async (lane: Lane, batch: number): Promise<{ tasks: TakenTask[]; more: boolean }> => {
    const { ackWaitMs } = await consumers.ensure(lane);
    const certainMs = Math.min(0.6 * leaseMs, 0.8 * ackWaitMs);
    const { deliveries, state } = await pulls.pull(lane.consumer, batch);
    if (state === "missing") consumers.forget(lane);
    const accepted = await Promise.all(deliveries.map((delivery) => accept(delivery, certainMs)));
    return { tasks: accepted.filter((task) => task !== null), more: state === "full" };
  };

  const take = async (lanes: readonly Lane[], max: number): Promise<TakenTask[]> => {
    const taken: TakenTask[] = [];
    if (closed || max <= 0) return taken;
    await schedule.serve(lanes);
    const empty = new Set<string>();
    while (taken.length < max && !closed && link.connected) {
      const next = schedule.next(max - taken.length, empty);
      if (next.length === 0) break;
      const polls = next.map(async ({ lane, batch }) => {
        const { tasks, more } = await poll(lane, batch);
        if (more) schedule.reschedule(lane);
        else empty.add(lane.consumer);
        return tasks;
      });
      for (const result of await Promise.allSettled(polls)) {
        if (result.status === "fulfilled") taken.push(...result.value);
        else invalidTasks.pullFailed(result.reason);
      }
    }
    return closed ? [] : taken;
  };

  // One take at a time: a concurrent one would find the lanes already removed from the schedule, and miss their tasks.
  let lastTake: Promise<unknown> = Promise.resolve();

  return {
    get refused() {
      return invalidTasks.refused;
    },
    async offer(task) {
      if (closed) throw new TroupeError("CLOSED", "the queue is closed");
      const message = await encodeTask(task, { subjects, blobs, payloadBytesMax: link.payloadBytesMax });
      const result = await offers.publish(message);
      // Also for a duplicate: the process of the first offer may have died before its announcement.
      schedule.announce(laneOf(task));
      return result;
    },
    async take(request) {
      const lanes = lanesOf(request);
      const result = lastTake.then(() => take(lanes, request.max));
      lastTake = result.catch(() => {});
      return await result;
    },
    onHint: (listener) => schedule.onHint(listener),
    pollFaster: () => schedule.pollFaster(),
    async close() {
      if (closed) return;
      closed = true;
      stopListening();
      schedule.close();
      pulls.close();
      heldTasks.close();
      requester.close();
    },
  };
}

/** True if the stream has another message, or none, with the delivery's sequence. Null if that cannot be determined. */
async function isGone(manager: JetStreamManager, stream: string, { seq, subject }: Delivery): Promise<boolean | null> {
  try {
    const stored = await manager.streams.getMessage(stream, { seq });
    return stored?.subject !== subject;
  } catch {
    return null;
  }
}
