import type { JetStreamManager } from "@nats-io/jetstream";
import { AckPolicy, type ConsumerConfig, type ConsumerInfo, JetStreamApiError } from "@nats-io/jetstream";
import type { Logger } from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";
import type { Lane } from "./lane.ts";

/** The consumer of this name is another than the one wanted. */
const otherConsumer = 10148;
const nanosPerMs = 1_000_000;
/** A consumer that nobody has asked for so long goes: machines come and go, and each has consumers of its own. */
const unusedMs = 7 * 24 * 3_600_000;

/** The durable consumers that give tasks out: one for each lane, made when it is first needed. */
export interface Consumers {
  /** Resolves to the time after which a task that was given out is given out again. */
  ensure(lane: Lane): Promise<{ ackWaitMs: number }>;
  /** It was found missing: the next `ensure` makes it again. */
  forget(lane: Lane): void;
}

export interface ConsumersOptions {
  manager: JetStreamManager;
  stream: string;
  subjects: Subjects;
  ackWaitMs: number;
  logger: Logger;
}

export function createConsumers({ manager, stream, subjects, ackWaitMs, logger }: ConsumersOptions): Consumers {
  const known = new Map<string, Promise<{ ackWaitMs: number }>>();

  const wanted = ({ locality: place, agent, consumer }: Lane): ConsumerConfig & { durable_name: string } =>
    ({
      durable_name: consumer,
      filter_subject: subjects.all.tasksOf(place, agent),
      ack_policy: AckPolicy.Explicit,
      ack_wait: ackWaitMs * nanosPerMs,
      max_ack_pending: -1,
      max_deliver: -1,
      inactive_threshold: unusedMs * nanosPerMs,
    }) as ConsumerConfig & { durable_name: string };

  /** Several processes may do so at once. What is there is left as it is, and what is wrong with it is said. */
  const make = async (lane: Lane): Promise<{ ackWaitMs: number }> => {
    const config = wanted(lane);
    const info = await manager.consumers.add(stream, config).catch(async (error: unknown) => {
      if (!(error instanceof JetStreamApiError) || error.code !== otherConsumer) throw error;
      return await manager.consumers.info(stream, lane.consumer);
    });
    const drift = driftOf(info, config);
    if (drift.length > 0) {
      logger.warn({ stream, consumer: lane.consumer, drift }, "consumer is set up in another way; left as it is");
    }
    return { ackWaitMs: Number(info.config.ack_wait ?? 0) / nanosPerMs };
  };

  return {
    ensure(lane) {
      const found = known.get(lane.consumer);
      if (found) return found;
      const made = make(lane);
      known.set(lane.consumer, made);
      made.catch(() => known.delete(lane.consumer));
      return made;
    },
    forget(lane) {
      known.delete(lane.consumer);
    },
  };
}

const checked = [
  "filter_subject",
  "ack_policy",
  "ack_wait",
  "max_ack_pending",
  "max_deliver",
  "inactive_threshold",
] as const satisfies readonly (keyof ConsumerConfig)[];

function driftOf({ config }: ConsumerInfo, wanted: ConsumerConfig): string[] {
  return checked
    .filter((setting) => config[setting] !== wanted[setting])
    .map((setting) => `${setting} is ${config[setting]}, not ${wanted[setting]}`);
}
