import type { HostAnnouncement, ServedAgent } from "../protocol/host.ts";

/** A host as this process sees it. */
export interface HostView extends Omit<HostAnnouncement, "v" | "kind" | "announced"> {
  runs: number;
  busy: number;
  draining: boolean;
  /** Milliseconds since it was heard of. */
  silentMs: number;
  /** Whether it is taken for living. */
  alive: boolean;
}

/** Who can run what, as far as this process has heard. */
export interface HostDirectory {
  /** All that were heard of lately, this one included, by name. */
  list(): HostView[];
  /**
   * Living hosts that serve an agent, at a place (`any`: at whichever). Where none is known, all hosts are asked first,
   * which takes a moment.
   */
  serving(agent: string, locality: string): Promise<HostView[]>;
  /** Agents that others serve, by id. */
  served(): ReadonlyMap<string, ServedAgent>;
  /** Calls back when a host came, went, or changed what it says. Returns the unsubscriber. */
  onChange(listener: () => void): () => void;
}
