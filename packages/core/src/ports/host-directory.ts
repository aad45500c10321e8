import type { HostAnnouncement, ServedAgent } from "../protocol/host.ts";

/** A host as this process sees it. */
export interface HostView extends Omit<HostAnnouncement, "v" | "kind" | "announced"> {
  runs: number;
  busy: number;
  draining: boolean;
  /** Milliseconds since its last message. */
  silentMs: number;
  /** Whether it counts as alive. */
  alive: boolean;
}

/** The known hosts, and the agents that they serve. */
export interface HostDirectory {
  /** All hosts with recent messages, including this one, sorted by name. */
  list(): HostView[];
  /**
   * Live hosts that serve an agent in a locality (`any`: in every one). If none is known, this queries all hosts and waits
   * briefly for their replies.
   */
  serving(agent: string, locality: string): Promise<HostView[]>;
  /** Agents that other hosts serve, by id. */
  served(): ReadonlyMap<string, ServedAgent>;
  /** Calls the listener when a host appears, leaves or changes its announcement. Returns the unsubscriber. */
  onChange(listener: () => void): () => void;
}
