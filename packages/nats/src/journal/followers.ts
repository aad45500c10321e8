import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { JetStreamApi } from "../jetstream/api.ts";
import { apiCodes } from "../jetstream/errors.ts";

/** Where a consumer is that was made ready to be read from. */
export interface ReadyConsumer {
  name: string;
  /** The number of its last delivery. */
  delivered: number;
}

/** Somebody who comes back, and how far he has everything. */
export interface FollowerMark {
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
 * Makes ready to read after a sequence, for somebody of whom the server is to remember what he has kept.
 *
 * A durable consumer remembers it. What it has given out, and what was not kept, it gives out again in an order of its
 * own; so whoever comes back has a new one made. The old one goes after that: at no time is there none that speaks for
 * him. That is why there are two names.
 */
export async function readyFollower(
  api: JetStreamApi,
  stream: string,
  { follower, after }: { follower: string; after: number },
): Promise<ReadyConsumer> {
  const names = [`${prefixOf(follower)}a`, `${prefixOf(follower)}b`] as const;
  const [a, b] = await Promise.all(names.map((name) => infoOf(api, stream, name)));
  const standing = [a, b].find((info) => info && info.delivered.stream_seq === after && info.num_ack_pending === 0);
  const name = standing?.name ?? (a && !b ? names[1] : names[0]);
  if (!standing && a && b) await remove(api, stream, name);
  const made = standing ?? (await add(api, stream, name, after));
  const other = [a, b].find((info) => info && info.name !== name);
  if (other) await remove(api, stream, other.name);
  return { name, delivered: made.delivered.consumer_seq };
}

/** How far each follower has everything. */
export async function followerMarks(api: JetStreamApi, stream: string): Promise<FollowerMark[]> {
  const marks = new Map<string, number>();
  for (const name of await consumersOf(api, stream)) {
    const [, follower] = /^follow_(.+)_[ab]$/.exec(name) ?? [];
    const info = follower === undefined ? null : await infoOf(api, stream, name);
    if (follower === undefined || !info) continue;
    const known = marks.get(follower) ?? Number.POSITIVE_INFINITY;
    marks.set(follower, Math.min(known, info.ack_floor.stream_seq));
  }
  return [...marks].map(([follower, sequence]) => ({ follower, sequence }));
}

function prefixOf(follower: string): string {
  if (/^[\w-]{1,100}$/.test(follower)) return `follow_${follower}_`;
  throw new TroupeError("INVALID_MESSAGE", `${JSON.stringify(follower)} cannot be a follower's name`, {
    fix: "use letters, digits, _ and - only, at most 100 of them",
  });
}

async function consumersOf(api: JetStreamApi, stream: string): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const page = await api.call(`CONSUMER.NAMES.${stream}`, Names, { request: { offset: found.length } });
    const names = page?.consumers ?? [];
    found.push(...names);
    if (names.length === 0 || found.length >= (page?.total ?? 0)) return found;
  }
}

function infoOf(api: JetStreamApi, stream: string, name: string): Promise<Info | null> {
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
  const made = await api.call(`CONSUMER.CREATE.${stream}.${name}`, Info, { request });
  if (made) return made;
  throw new TroupeError("INTERNAL", `nothing is said of the consumer ${name}`);
}

async function remove(api: JetStreamApi, stream: string, name: string): Promise<void> {
  await api.call(`CONSUMER.DELETE.${stream}.${name}`, z.unknown(), { absent });
}
