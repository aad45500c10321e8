import { z } from "zod";
import { AgentDefinition } from "./agent.ts";
import { Token } from "./ids.ts";
import { Version } from "./version.ts";

/** An agent as its host announces it: its definition but for the prompt, and the hash of all of it. */
export const ServedAgent = z.object({
  definition: AgentDefinition.omit({ prompt: true }),
  hash: z.string(),
});
export type ServedAgent = z.infer<typeof ServedAgent>;

/** One host serves no more: whoever listens keeps what hosts say in memory. */
const servedAgentsMax = 1_000;

/** What a process that runs agents says of itself: when it starts, when it is asked, and when any of it changes. */
export const HostAnnouncement = z.object({
  v: Version,
  kind: z.literal("host.announced"),
  host: Token,
  /** `worker` takes tasks of the agents it was given; `daemon` and `run` have a service as well. */
  role: z.enum(["daemon", "run", "worker"]),
  version: z.string().max(128),
  /** Protocol version that it speaks. */
  protocol: Version,
  pid: z.int(),
  /** The disk that its workspaces are on. */
  place: Token,
  capacity: z.int().positive(),
  agents: z.array(ServedAgent).max(servedAgentsMax),
  startedAt: z.iso.datetime(),
  /** How often its heartbeat comes. */
  beatMs: z.int().positive().max(60_000),
  /** Changes whenever anything of this does: its heartbeats name it. */
  announced: z.string().max(128),
});
export type HostAnnouncement = z.infer<typeof HostAnnouncement>;

/** Sent all the time: who was not heard of for three beats is taken for gone. */
export const HostHeartbeat = z.object({
  v: Version,
  kind: z.literal("host.beat"),
  host: Token,
  /** The announcement that holds: who knows another one asks anew. */
  announced: z.string().max(128),
  /** Runs that live there, and those of them that are at work. */
  runs: z.int().nonnegative(),
  busy: z.int().nonnegative(),
  draining: z.boolean(),
});
export type HostHeartbeat = z.infer<typeof HostHeartbeat>;

/** The last word of a host that leaves in good order. */
export const HostLeft = z.object({ v: Version, kind: z.literal("host.left"), host: Token });
export type HostLeft = z.infer<typeof HostLeft>;

export const HostMessage = z.discriminatedUnion("kind", [HostAnnouncement, HostHeartbeat, HostLeft]);
export type HostMessage = z.infer<typeof HostMessage>;
