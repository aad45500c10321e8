import type { TroupeService } from "@troupe/core";
import type { HostDeps } from "../host/host-deps.ts";
import { createHostDirectory } from "./directory.ts";
import { createHostControl } from "./host-control.ts";

export interface ListHostsOptions extends Pick<HostDeps, "bus" | "subjects" | "clock" | "logger"> {
  /** How long to wait for all hosts to answer. @default 500 */
  askMs?: number;
}

/** The hosts that answered a query, for a process that runs no host. */
export interface HostListing extends Pick<TroupeService, "hosts" | "drainHost"> {
  /** Stops listening. The bus stays open. */
  stop(): void;
}

/**
 * Queries all hosts on a bus and resolves after their time to answer. A host that left before the query is not listed.
 *
 * @example
 * const listing = await listHosts({ bus, subjects: createSubjects(), clock: systemClock(), logger: silentLogger });
 * await listing.hosts();
 * listing.stop();
 */
export async function listHosts(options: ListHostsOptions): Promise<HostListing> {
  const directory = createHostDirectory({ ...options, own: null });
  await directory.start();
  // No host serves agent "", so this queries every host and waits for the replies.
  await directory.serving("", "any").catch((error: unknown) => {
    directory.stop();
    throw error;
  });
  return { ...createHostControl({ ...options, hosts: directory, hostId: "" }), stop: () => directory.stop() };
}
