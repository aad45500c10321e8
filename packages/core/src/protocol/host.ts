import { z } from "zod";
import { AgentDefinition } from "./agent.ts";
import { Version } from "./codec.ts";
import { Id, Token } from "./ids.ts";

/** An agent as its host announces it: the definition without the prompt, and the hash of the whole definition. */
export const ServedAgent = z.object({
  definition: AgentDefinition.omit({ prompt: true }),
  hash: z.string(),
});
export type ServedAgent = z.infer<typeof ServedAgent>;

/** The most agents of one host: every other process holds all announcements in memory. */
const servedAgentsMax = 1_000;

/** A host's description of itself. It is sent at start, on request, and after every change. */
export const HostAnnouncement = z.object({
  v: Version,
  kind: z.literal("host.announced"),
  host: Token,
  /** A `worker` only runs agents; a `daemon` and a `run` offer the service as well. */
  role: z.enum(["daemon", "run", "worker"]),
  version: z.string().max(128),
  /** Protocol version that the host supports. */
  protocol: Version,
  pid: z.int(),
  /** The locality of its workspaces. */
  place: Token,
  capacity: z.int().positive(),
  agents: z.array(ServedAgent).max(servedAgentsMax),
  startedAt: z.iso.datetime(),
  /** Interval of its heartbeats. */
  beatMs: z.int().positive().max(60_000),
  /** Version of this announcement. Heartbeats contain it, so that receivers notice a missed one. */
  announced: z.string().max(128),
});
export type HostAnnouncement = z.infer<typeof HostAnnouncement>;

/** Sent at a fixed interval. A host without a heartbeat for three intervals counts as gone. */
export const HostHeartbeat = z.object({
  v: Version,
  kind: z.literal("host.beat"),
  host: Token,
  /** Version of the current announcement. A receiver that has another one requests it again. */
  announced: z.string().max(128),
  /** Runs in its memory, and the number of them that are working. */
  runs: z.int().nonnegative(),
  busy: z.int().nonnegative(),
  draining: z.boolean(),
});
export type HostHeartbeat = z.infer<typeof HostHeartbeat>;

/** Sent by a host before it stops. */
export const HostLeft = z.object({ v: Version, kind: z.literal("host.left"), host: Token });
export type HostLeft = z.infer<typeof HostLeft>;

export const HostMessage = z.discriminatedUnion("kind", [HostAnnouncement, HostHeartbeat, HostLeft]);
export type HostMessage = z.infer<typeof HostMessage>;

/** Messages to all hosts or to one host. They are hints: none of them has to arrive. */
export const ControlMessage = z.discriminatedUnion("kind", [
  /** A session's inbox has a new item. Read it there. */
  z.object({ v: Version, kind: z.literal("inbox.announced"), session: Id }),
  /** A host that was offered a claimed run asks the last claimer for a `RunHolderReply`. */
  z.object({ v: Version, kind: z.literal("run.asked"), session: Id, run: Id, epoch: z.int().positive() }),
  /** Every host announces itself at once. */
  z.object({ v: Version, kind: z.literal("hosts.asked") }),
  /** The host takes no new runs, parks its runs for other hosts, and stops. */
  z.object({ v: Version, kind: z.literal("drain.asked"), host: Token, by: z.string() }),
]);
export type ControlMessage = z.infer<typeof ControlMessage>;

/** Whether a host still holds a run under that epoch. */
export const RunHolderReply = z.object({ v: Version, run: Id, holds: z.boolean() });
export type RunHolderReply = z.infer<typeof RunHolderReply>;
