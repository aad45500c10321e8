import { randomUUID } from "node:crypto";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import type { Logger } from "@troupe/core";
import { type Blobs, type Bus, type Clock, type TakenTask, type TaskQueue, TroupeError } from "@troupe/core";
import { ageMs, createInvalidMessages, type InvalidMessages, type Subjects } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import { createRequester } from "../connection/requester.ts";
import { createConsumers } from "./consumers.ts";
import { createHolder } from "./held-tasks.ts";
import { createInvalidTasks } from "./invalid-tasks.ts";
import { type Lane, laneOf, lanesOf } from "./lane.ts";
import { createOffers } from "./offers.ts";
import { createWatch } from "./poll-schedule.ts";
import { createPulls, type Delivery } from "./pulls.ts";
import { encodeTask, readTask } from "./wire.ts";

export interface NatsTaskQueueOptions {
  link: NatsLink;
  /** Carries the hints. */
  bus: Bus;
  subjects: Subjects;
  /** As given to `subjects`. @default "troupe" */
  namespace?: string;
  /** How long a task stays with a host that has died. @default 8_000 */
  leaseMs?: number;
  /** How often every consumer is looked into without a hint. @default 5_000 */
  sweepMs?: number;
  /** How long an offer is tried. @default 5_000 */
  offerPatienceMs?: number;
  clock: Clock;
  logger: Logger;
  /** Counts what is in the work queue and cannot be taken up. @default one of its own */
  invalidMessages?: InvalidMessages;
  /** For requests over 256 KiB. Without it they have to fit into a message. */
  blobs?: Blobs;
}

export interface NatsTaskQueue extends TaskQueue {
  /** Messages in the work queue so far that were none of troupe's. */
  readonly refused: number;
}

/**
 * The queue over a JetStream work queue, which has to be there (`ensureStreams`). Offers are messages, one for each run
 * at most; each agent in each place has a durable consumer, which is made when it is first asked for.
 *
 * It is pulled without waiting, and only when somebody said that there may be something: an open pull would be given
 * tasks that its process cannot take, or has stopped taking. Without a connection `take` finds nothing, and what is held
 * becomes uncertain after 60 % of a lease.
 *
 * @example
 * const queue = await createNatsTaskQueue({ link, bus, subjects: createSubjects(), clock: systemClock(), logger });
 * queue.onHint(async () => {
 *   for (const task of await queue.take({ agents: ["coder"], places: [], max: 4 })) await task.finish();
 * });
 */
export async function createNatsTaskQueue(options: NatsTaskQueueOptions): Promise<NatsTaskQueue> {
  const { link, bus, subjects, namespace = "troupe", leaseMs = 8_000, clock, logger, blobs } = options;
  const stream = `${namespace}_tasks`;
  const manager = await jetstreamManager(link.connection, { checkAPI: false });
  const hurry = { everyMs: leaseMs / 8, forMs: 2 * leaseMs };
  const sweepMs = options.sweepMs ?? 5_000;
  let closed = false;

  const leaveToOthers = (subject: string): void => {
    const task = subjects.parse(subject);
    if (task?.kind === "task") watch.leaveToOthers(laneOf(task));
  };
  const othersFirstMs = leaseMs / 16;
  const watch = createWatch({ bus, subjects, clock, logger, sweepMs, hurry, othersFirstMs, id: randomUUID() });
  const consumers = createConsumers({ manager, stream, subjects, ackWaitMs: 0.75 * leaseMs, logger });
  const strays = createInvalidTasks({
    link,
    logger,
    leaseMs,
    invalidMessages: options.invalidMessages ?? createInvalidMessages(),
  });
  const asks = createRequester({ link, clock });
  const holder = createHolder({
    link,
    asks,
    clock,
    leaseMs,
    leaveToOthers,
    isGone: (delivery) => isGone(manager, stream, delivery),
  });
  const pulls = createPulls({ link, stream, clock, timeoutMs: Math.min(2_000, leaseMs / 4) });
  const offers = createOffers({
    link,
    asks,
    manager,
    stream,
    clock,
    patienceMs: options.offerPatienceMs ?? 5_000,
    isClosed: () => closed,
  });
  const stopFollowing = link.onEvent(({ kind }) => {
    if (kind !== "reconnected") return;
    void holder.afterGap();
    watch.markAll();
  });

  const receive = async (delivery: Delivery, sureMs: number): Promise<TakenTask | null> => {
    if (holder.adopt(delivery)) return null;
    const read = await readTask(delivery, { subjects, blobs });
    // After a long stop of this process it is somebody else's, or will be.
    if (closed || ageMs(clock, delivery.askedAt) >= sureMs) return null;
    if (read.kind === "foreign") strays.end(delivery, read.why);
    else if (read.kind === "later") strays.leave(delivery, read.why);
    else return holder.hold({ run: read.run, bytes: read.bytes, delivery, sureMs });
    return null;
  };

  /** What is in one lane, and whether there may be more. */
  const look = async (lane: Lane, batch: number): Promise<{ tasks: TakenTask[]; more: boolean }> => {
    const { ackWaitMs } = await consumers.ensure(lane);
    const sureMs = Math.min(0.6 * leaseMs, 0.8 * ackWaitMs);
    const { deliveries, state } = await pulls.pull(lane.consumer, batch);
    if (state === "missing") consumers.forget(lane);
    const received = await Promise.all(deliveries.map((delivery) => receive(delivery, sureMs)));
    return { tasks: received.filter((task) => task !== null), more: state === "full" };
  };

  const takeNow = async (lanes: readonly Lane[], max: number): Promise<TakenTask[]> => {
    const taken: TakenTask[] = [];
    if (closed || max <= 0) return taken;
    await watch.serve(lanes);
    const empty = new Set<string>();
    while (taken.length < max && !closed && link.connected) {
      const asked = watch.next(max - taken.length, empty);
      if (asked.length === 0) break;
      const looks = asked.map(async ({ lane, batch }) => {
        const { tasks, more } = await look(lane, batch);
        if (more) watch.putBack(lane);
        else empty.add(lane.consumer);
        return tasks;
      });
      for (const result of await Promise.allSettled(looks)) {
        if (result.status === "fulfilled") taken.push(...result.value);
        else strays.outage(result.reason);
      }
    }
    return closed ? [] : taken;
  };

  // One at a time: a second look into the same lanes would find them crossed off, and what is there would go unseen.
  let taking: Promise<unknown> = Promise.resolve();

  return {
    get refused() {
      return strays.refused;
    },
    async offer(task) {
      if (closed) throw new TroupeError("CLOSED", "the queue is closed");
      const message = await encodeTask(task, { subjects, blobs, payloadBytesMax: link.payloadBytesMax });
      const answer = await offers.publish(message);
      // Also for one that was there: whoever offered it first may not have come to this.
      watch.announce(laneOf(task));
      return answer;
    },
    async take(request) {
      const lanes = lanesOf(request);
      const mine = taking.then(() => takeNow(lanes, request.max));
      taking = mine.catch(() => {});
      return await mine;
    },
    onHint: (listener) => watch.onHint(listener),
    pollFaster: () => watch.hurry(),
    async close() {
      if (closed) return;
      closed = true;
      stopFollowing();
      watch.close();
      pulls.close();
      holder.close();
      asks.close();
    },
  };
}

/** Whether the stream holds another message there by now, or none; null where nobody can say. */
async function isGone(manager: JetStreamManager, stream: string, { seq, subject }: Delivery): Promise<boolean | null> {
  try {
    const stored = await manager.streams.getMessage(stream, { seq });
    return stored?.subject !== subject;
  } catch {
    return null;
  }
}
