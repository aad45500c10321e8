import { createHash } from "node:crypto";
import { TroupeError } from "@troupe/core";
import type { TakeRequest } from "@troupe/core/internal";

/** The tasks of one agent in one place: what one durable consumer gives out. */
export interface Lane {
  locality: string;
  agent: string;
  /** What its consumer is called. */
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

/** All that a host asks for: each of its agents, in each of its places and anywhere. */
export function lanesOf({ agents, localities }: TakeRequest): Lane[] {
  if (agents === "all" || localities === "all") {
    throw new TroupeError("USAGE", `tasks over NATS are taken by name: agents and places are lists, never "all"`, {
      fix: "name the agents that this host has definitions of, and the places whose disk it has",
    });
  }
  const everywhere = [...new Set(["any", ...localities])];
  return [...new Set(agents)].flatMap((agent) => everywhere.map((locality) => laneOf({ locality, agent })));
}
