import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
} from "@nats-io/jetstream";
import { TroupeError } from "@troupe/core";
import { apiCodes, isApiError } from "../jetstream-errors.ts";

export interface Following {
  manager: JetStreamManager;
  stream: string;
  follower: string;
}

/** Somebody who comes back, and how far he has everything. */
export interface FollowerMark {
  follower: string;
  sequence: number;
}

/**
 * What a follower has kept is remembered by a durable consumer. A consumer gives out again what was given out and not
 * kept, but in an order of its own; so a follower who comes back has a new one made, and the old one goes after that: at
 * no time is there none that speaks for him.
 */
const places = ["a", "b"] as const;
const nanosPerHour = 3_600_000_000_000;

/** Makes ready to read after a sequence. `delivered`: the number of the consumer's last delivery. */
export async function beginFollowing({
  manager,
  stream,
  follower,
  after,
}: Following & { after: number }): Promise<{ name: string; delivered: number }> {
  const [a, b] = await Promise.all(places.map((place) => infoOf(manager, stream, nameOf(follower, place))));
  const standing = [a, b].find((info) => info && info.delivered.stream_seq === after && info.num_ack_pending === 0);
  if (standing) return { name: standing.name, delivered: standing.delivered.consumer_seq };
  const name = nameOf(follower, a && !b ? "b" : "a");
  if (a && b) await remove(manager, stream, name);
  const { delivered } = await manager.consumers.add(stream, durable(name, after));
  const other = name.endsWith("_a") ? b : a;
  if (other) await remove(manager, stream, other.name);
  return { name, delivered: delivered.consumer_seq };
}

/** How far each follower has everything. */
export async function followerMarks(manager: JetStreamManager, stream: string): Promise<FollowerMark[]> {
  const marks = new Map<string, number>();
  for await (const { name, ack_floor } of manager.consumers.list(stream)) {
    const [, follower] = /^follow_(.+)_[ab]$/.exec(name) ?? [];
    if (follower === undefined) continue;
    marks.set(follower, Math.min(marks.get(follower) ?? Number.POSITIVE_INFINITY, ack_floor.stream_seq));
  }
  return [...marks].map(([follower, sequence]) => ({ follower, sequence }));
}

function nameOf(follower: string, place: string): string {
  if (/^[\w-]{1,100}$/.test(follower)) return `follow_${follower}_${place}`;
  throw new TroupeError("INVALID_MESSAGE", `${JSON.stringify(follower)} cannot be a follower's name`, {
    fix: "use letters, digits, _ and - only, at most 100 of them",
  });
}

function durable(name: string, after: number): ConsumerConfig {
  const config: Partial<ConsumerConfig> = {
    durable_name: name,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after + 1,
    ack_policy: AckPolicy.All,
    ack_wait: nanosPerHour,
    max_ack_pending: -1,
    max_deliver: -1,
  };
  // What is absent has its default, whatever the type says.
  return config as ConsumerConfig;
}

async function infoOf(manager: JetStreamManager, stream: string, consumer: string): Promise<ConsumerInfo | null> {
  try {
    return await manager.consumers.info(stream, consumer);
  } catch (error) {
    if (isApiError(error, apiCodes.consumerNotFound)) return null;
    throw error;
  }
}

async function remove(manager: JetStreamManager, stream: string, consumer: string): Promise<void> {
  try {
    await manager.consumers.delete(stream, consumer);
  } catch (error) {
    if (!isApiError(error, apiCodes.consumerNotFound)) throw error;
  }
}
