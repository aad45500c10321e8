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

/** Who was not heard of for three of these is taken for gone. */
const beatsPerLease = 4;
const beatMsMax = 2_000;

/** How often definitions are looked at again: an edited file counts on all machines a moment later. */
const reloadMs = 2_000;

export interface MembershipOptions {
  deps: HostDeps;
  shared: Pick<SharedServer, "locality" | "leaseMs">;
  served: ServedAgents;
  /** Null: it looks at others, and is nobody itself. */
  role: HostFacts["role"] | null;
  capacity: number;
}

/** This process among others: who they are to it, and what it is to them. */
export interface HostMembership {
  hosts: HostDirectory;
  /** Agents that others serve. */
  remoteAgents(): AgentDefinition[];
  /** Listens to others from now on, and resolves when those who are there have said who they are. */
  join(): Promise<void>;
  /** Tells others of this host from now on, and what it is told by them. */
  announce(host: ActorHost, onDrain: (by: string) => void): Promise<void>;
  /** Says at once what has changed. */
  changed(): void;
  /** Its last word. */
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
        .catch((err: unknown) => logger.warn({ err }, "agents could not be read again"))
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

/** Silence after which it is not worth waiting for anybody. */
const replyMs = 1_000;

/** After the first of them all who are there have spoken, unless they were asked by somebody else just before. */
const allMs = 150;

/** Asks everybody, and waits for the answers, so that what they serve is known to whoever begins at once. */
async function queryHosts({ bus, subjects, clock, logger }: HostDeps): Promise<void> {
  const question = encode({ v: protocolVersion, kind: "hosts.asked" });
  try {
    await bus.request(subjects.control("all"), question, { timeoutMs: replyMs });
    await new Promise<void>((resolve) => clock.after(allMs, resolve));
  } catch (error) {
    const isAlone = TroupeError.is(error) && error.code === "NO_RESPONDERS";
    if (!isAlone) logger.warn({ err: error }, "other hosts could not be asked who they are");
  }
}
