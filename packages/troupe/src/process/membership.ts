import { type AgentDefinition, type HostDirectory, TroupeError } from "@troupe/core";
import { encode, protocolVersion } from "@troupe/core/internal";
import {
  type ActorHost,
  createAnnouncer,
  createHostDirectory,
  type HostDeps,
  type MicroService,
  type ServedAgents,
  startMicro,
} from "@troupe/runtime";
import { type HostFacts, type HostLoad, remoteAgents } from "@troupe/runtime/internal";
import { ownVersion } from "../version.ts";
import type { SharedServer } from "./ports.ts";

/** Heartbeats in one lease. Other hosts count a host as gone after three missed heartbeats. */
const beatsPerLease = 4;
const beatMsMax = 2_000;

/** How often agent files are read again, so that an edit takes effect on all machines within seconds. */
const reloadMs = 2_000;

export interface MembershipOptions {
  deps: HostDeps;
  shared: Pick<SharedServer, "locality" | "leaseMs">;
  served: ServedAgents;
  /** Null: this process reads the list of hosts and is not a host itself. */
  role: HostFacts["role"] | null;
  capacity: number;
}

/** Membership of this process among the hosts: the hosts that it knows, and its own announcement. */
export interface HostMembership {
  hosts: HostDirectory;
  /** Agents of other hosts. */
  remoteAgents(): AgentDefinition[];
  /** Starts to listen to other hosts, and resolves when the running ones have answered. */
  join(): Promise<void>;
  /** Starts to announce this host. `onDrain` is called when another process asks it to drain. */
  announce(host: ActorHost, onDrain: (by: string) => void): Promise<void>;
  /** Announces the current state at once. */
  changed(): void;
  /** Announces that this host leaves. */
  leave(): void;
}

export function createHostMembership({ deps, shared, served, role, capacity }: MembershipOptions): HostMembership {
  const { bus, subjects, clock, logger, hostId, invalidMessages } = deps;
  let host: ActorHost | null = null;
  let onDrain: (by: string) => void = () => {};
  let stopReloading = (): void => {};
  let micro: MicroService | null = null;
  let hasLeft = false;
  const load = (): HostLoad => ({
    runs: host?.activeRuns() ?? 0,
    busy: host?.busyRuns() ?? 0,
    draining: host?.isDraining() ?? false,
  });
  const announcer = createAnnouncer({
    ...{ bus, subjects, clock, logger, load },
    ...(invalidMessages ? { invalidMessages } : {}),
    facts: {
      host: hostId,
      role: role ?? "run",
      version: ownVersion(),
      pid: process.pid,
      place: shared.locality,
      capacity,
      startedAt: new Date(clock.now()).toISOString(),
      beatMs: Math.max(100, Math.min(beatMsMax, Math.round(shared.leaseMs / beatsPerLease))),
    },
    agents: () => served.list(),
    onDrain: (by) => onDrain(by),
  });
  const directory = createHostDirectory({
    ...{ bus, subjects, clock, logger },
    own: role === null ? null : announcer,
  });
  const reload = (): void => {
    if (hasLeft) return;
    stopReloading = clock.after(reloadMs, () => {
      served
        .refresh()
        .catch((err: unknown) => logger.warn({ err }, "agent files could not be reloaded"))
        .finally(reload);
    });
  };

  return {
    hosts: directory,
    remoteAgents: () => remoteAgents(directory),
    async join() {
      await directory.start();
      await queryHosts(deps);
    },
    async announce(own, drain) {
      host = own;
      onDrain = drain;
      served.onChange(() => announcer.changed());
      await served.refresh();
      await announcer.start();
      micro = await startMicro({ bus, logger, own: announcer });
      reload();
    },
    changed: () => announcer.changed(),
    leave() {
      hasLeft = true;
      stopReloading();
      micro?.stop();
      announcer.stop();
      directory.stop();
    },
  };
}

/** Longest wait for the first reply. */
const replyMs = 1_000;

/** Wait after the first reply, in which the other hosts reply too. */
const allMs = 150;

/** Asks all hosts who they are and waits for the replies, so that the first run already knows their agents. */
async function queryHosts({ bus, subjects, clock, logger }: HostDeps): Promise<void> {
  const question = encode({ v: protocolVersion, kind: "hosts.asked" });
  try {
    await bus.request(subjects.control("all"), question, { timeoutMs: replyMs });
    await new Promise<void>((resolve) => clock.after(allMs, resolve));
  } catch (error) {
    const isAlone = TroupeError.is(error) && error.code === "NO_RESPONDERS";
    if (!isAlone) logger.warn({ err: error }, "the query for other hosts failed");
  }
}
