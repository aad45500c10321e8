import type { TroupeService } from "@troupe/core";
import type { HostDeps } from "../host/host-deps.ts";
import { createHostControl } from "../service/hosts.ts";
import { createHostDirectory } from "./directory.ts";

export interface ListHostsOptions extends Pick<HostDeps, "bus" | "subjects" | "clock" | "logger"> {
  /** How long all hosts are given to answer. @default 500 */
  askMs?: number;
}

/** Who is there, for somebody who runs nothing himself. */
export interface HostListing extends Pick<TroupeService, "hosts" | "drainHost"> {
  /** Stops listening. The bus stays open. */
  stop(): void;
}

/**
 * Asks all hosts on a bus who they are, and resolves when they have had the time to answer. Those who have gone before that
 * are not known to anybody who comes later.
 *
 * @example
 * const round = await listHosts({ bus, subjects: createSubjects(), clock: systemClock(), logger: silentLogger });
 * await round.hosts();
 * round.stop();
 */
export async function listHosts(options: ListHostsOptions): Promise<HostListing> {
  const directory = createHostDirectory({ ...options, own: null });
  await directory.start();
  // Nobody serves nobody: so that all are asked, and waited for.
  await directory.serving("", "any").catch((error: unknown) => {
    directory.stop();
    throw error;
  });
  return { ...createHostControl({ ...options, hosts: directory, hostId: "" }), stop: () => directory.stop() };
}
