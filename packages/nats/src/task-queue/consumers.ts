import { createHash } from "node:crypto";
import type { JetStreamManager } from "@nats-io/jetstream";
import { AckPolicy, type ConsumerConfig, type ConsumerInfo } from "@nats-io/jetstream";
import { type Logger, TroupeError } from "@troupe/core";
import type { Subjects, TakeRequest } from "@troupe/core/internal";
import { apiCodes, isApiError } from "../jetstream/errors.ts";

/** The tasks of one agent in one locality. Each lane has a durable consumer. */
export interface Lane {
  locality: string;
  agent: string;
  /** Name of its consumer. */
  consumer: string;
}

/** The server's own limit is 255. */
const nameLengthMax = 200;

export function laneOf({ locality, agent }: Pick<Lane, "locality" | "agent">): Lane {
  const name = `${agent}@${locality}`;
  if (name.length <= nameLengthMax) return { locality, agent, consumer: name };
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return { locality, agent, consumer: `${name.slice(0, 100)}@${hash}` };
}

/** The lanes of a host: each of its agents in each of its localities, and in `any`. */
export function lanesOf({ agents, localities }: TakeRequest): Lane[] {
  if (agents === "all" || localities === "all") {
    throw new TroupeError("USAGE", `a host on NATS takes tasks by name: agents and localities are lists, never "all"`, {
      fix: "name the agents that this host has definitions of, and the localities whose disk it has",
    });
  }
  const withAny = [...new Set(["any", ...localities])];
  return [...new Set(agents)].flatMap((agent) => withAny.map((locality) => laneOf({ locality, agent })));
}

const nanosPerMs = 1_000_000;
/** The server deletes a consumer that no host has used for this time: each machine has consumers of its own. */
const inactiveMs = 7 * 24 * 3_600_000;

/** The durable consumers of the lanes, created on first use. */
export interface Consumers {
  /** Resolves to the time after which the server delivers an unacknowledged task again. */
  ensure(lane: Lane): Promise<{ ackWaitMs: number }>;
  /** Call it when the consumer was missing: the next `ensure` creates it again. */
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

  const configOf = ({ locality, agent, consumer }: Lane): ConsumerConfig & { durable_name: string } =>
    ({
      durable_name: consumer,
      filter_subject: subjects.all.tasksOf(locality, agent),
      ack_policy: AckPolicy.Explicit,
      ack_wait: ackWaitMs * nanosPerMs,
      max_ack_pending: -1,
      max_deliver: -1,
      inactive_threshold: inactiveMs * nanosPerMs,
    }) as ConsumerConfig & { durable_name: string };

  /** Several processes may do it at the same time. An existing consumer is never changed; other settings are logged. */
  const create = async (lane: Lane): Promise<{ ackWaitMs: number }> => {
    const config = configOf(lane);
    const info = await manager.consumers.add(stream, config).catch(async (error: unknown) => {
      if (!isApiError(error, apiCodes.consumerExists)) throw error;
      return await manager.consumers.info(stream, lane.consumer);
    });
    const drift = driftOf(info, config);
    if (drift.length > 0) {
      const { consumer } = lane;
      logger.warn({ stream, consumer, drift }, "the consumer has other settings than troupe creates; not changed");
    }
    return { ackWaitMs: Number(info.config.ack_wait ?? 0) / nanosPerMs };
  };

  return {
    ensure(lane) {
      const found = known.get(lane.consumer);
      if (found) return found;
      const created = create(lane);
      known.set(lane.consumer, created);
      created.catch(() => known.delete(lane.consumer));
      return created;
    },
    forget(lane) {
      known.delete(lane.consumer);
    },
  };
}

const checkedSettings = [
  "filter_subject",
  "ack_policy",
  "ack_wait",
  "max_ack_pending",
  "max_deliver",
  "inactive_threshold",
] as const satisfies readonly (keyof ConsumerConfig)[];

function driftOf({ config }: ConsumerInfo, wanted: ConsumerConfig): string[] {
  return checkedSettings
    .filter((setting) => config[setting] !== wanted[setting])
    .map((setting) => `${setting} is ${config[setting]}, not ${wanted[setting]}`);
}
