import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { JetStreamApi } from "../jetstream/api.ts";
import { apiCodes } from "../jetstream/errors.ts";

/** A consumer on the server that is ready to be pulled from. */
export interface ReadyConsumer {
  name: string;
  /** Delivery number of its last delivery. */
  delivered: number;
}

/** How far a follower has stored the journal. */
export interface FollowerCheckpoint {
  follower: string;
  sequence: number;
}

const Info = z.object({
  name: z.string(),
  delivered: z.object({ consumer_seq: z.int(), stream_seq: z.int() }),
  ack_floor: z.object({ stream_seq: z.int() }),
  num_ack_pending: z.int().default(0),
});
type Info = z.infer<typeof Info>;

const Names = z.object({ total: z.int(), consumers: z.array(z.string()).nullable().default([]) });

const absent = [apiCodes.consumerNotFound];
const nanosPerHour = 3_600_000_000_000;

/**
 * Prepares the durable consumer of a follower to deliver the messages after a sequence. Its acknowledgement floor is the
 * follower's checkpoint.
 *
 * A durable consumer delivers unacknowledged messages again, but not in order. So a returning follower gets a new consumer,
 * and the old one is deleted after that: the follower has a checkpoint at every moment. This needs two names per follower.
 */
export async function openFollower(
  api: JetStreamApi,
  stream: string,
  { follower, after }: { follower: string; after: number },
): Promise<ReadyConsumer> {
  const names = [`${prefixOf(follower)}a`, `${prefixOf(follower)}b`] as const;
  const [a, b] = await Promise.all(names.map((name) => readInfo(api, stream, name)));
  const reusable = [a, b].find((info) => info && info.delivered.stream_seq === after && info.num_ack_pending === 0);
  const name = reusable?.name ?? (a && !b ? names[1] : names[0]);
  if (!reusable && a && b) await remove(api, stream, name);
  const consumer = reusable ?? (await add(api, stream, name, after));
  const other = [a, b].find((info) => info && info.name !== name);
  if (other) await remove(api, stream, other.name);
  return { name, delivered: consumer.delivered.consumer_seq };
}

/** The checkpoints of all followers. While a follower has two consumers, the older checkpoint counts. */
export async function followerCheckpoints(api: JetStreamApi, stream: string): Promise<FollowerCheckpoint[]> {
  const checkpoints = new Map<string, number>();
  for (const name of await consumerNames(api, stream)) {
    const [, follower] = /^follow_(.+)_[ab]$/.exec(name) ?? [];
    const info = follower === undefined ? null : await readInfo(api, stream, name);
    if (follower === undefined || !info) continue;
    const known = checkpoints.get(follower) ?? Number.POSITIVE_INFINITY;
    checkpoints.set(follower, Math.min(known, info.ack_floor.stream_seq));
  }
  return [...checkpoints].map(([follower, sequence]) => ({ follower, sequence }));
}

function prefixOf(follower: string): string {
  if (/^[\w-]{1,100}$/.test(follower)) return `follow_${follower}_`;
  throw new TroupeError("INVALID_MESSAGE", `${JSON.stringify(follower)} is not a valid name of a follower`, {
    fix: "use letters, digits, _ and - only, at most 100 of them",
  });
}

async function consumerNames(api: JetStreamApi, stream: string): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const page = await api.call(`CONSUMER.NAMES.${stream}`, Names, { request: { offset: found.length } });
    const names = page?.consumers ?? [];
    found.push(...names);
    if (names.length === 0 || found.length >= (page?.total ?? 0)) return found;
  }
}

function readInfo(api: JetStreamApi, stream: string, name: string): Promise<Info | null> {
  return api.call(`CONSUMER.INFO.${stream}.${name}`, Info, { absent });
}

async function add(api: JetStreamApi, stream: string, name: string, after: number): Promise<Info> {
  const config = {
    durable_name: name,
    name,
    deliver_policy: "by_start_sequence",
    opt_start_seq: after + 1,
    ack_policy: "all",
    ack_wait: nanosPerHour,
    max_ack_pending: -1,
    max_deliver: -1,
    replay_policy: "instant",
  };
  const request = { stream_name: stream, config, action: "create" };
  const info = await api.call(`CONSUMER.CREATE.${stream}.${name}`, Info, { request });
  if (info) return info;
  throw new TroupeError("INTERNAL", `the server returned no info of the consumer ${name}`);
}

async function remove(api: JetStreamApi, stream: string, name: string): Promise<void> {
  await api.call(`CONSUMER.DELETE.${stream}.${name}`, z.unknown(), { absent });
}
