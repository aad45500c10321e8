import type { AgentDefinition, AgentRegistry, ModelProvider } from "@troupe/core";
import { silentLogger } from "@troupe/core";
import type { ServedAgent } from "@troupe/core/internal";
import { createInvalidMessages } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import { type NatsPorts, openNatsLink, openNatsPorts } from "@troupe/nats";
import {
  type ActorHost,
  builtinVerifiers,
  createActorHost,
  createAnnouncer,
  createHostDirectory,
  type HostDeps,
  noFailpoints,
} from "@troupe/runtime";
import { definitionHashOf } from "@troupe/runtime/internal";
import { createToolHost } from "@troupe/tools";

/** Settings of a benchmark host. */
export interface NatsHostOptions {
  url: string;
  namespace: string;
  name: string;
  /** Agents whose tasks it takes. */
  agents: string[];
  capacity: number;
  leaseMs: number;
}

export interface NatsHost {
  deps: HostDeps;
  ports: NatsPorts;
  host: ActorHost;
  /** Resolves once this host has heard of all of them. */
  waitForHosts(names: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** A host as a worker is one: a connection of its own, all ports over it, and a voice among the others. */
export async function openNatsHost(
  options: NatsHostOptions & { models: ModelProvider; registry: AgentRegistry },
): Promise<NatsHost> {
  const { url, namespace, name, agents, capacity, leaseMs, models, registry } = options;
  const clock = systemClock();
  const link = await openNatsLink({ servers: url, name });
  const ports = await openNatsPorts({ link, namespace, leaseMs, clock, logger: silentLogger });
  const { bus, subjects } = ports;
  const served = agents.flatMap((id) => toServed(registry.find(id)));
  const announcer = createAnnouncer({
    ...{ bus, subjects, clock, logger: silentLogger },
    facts: {
      ...{
        host: name,
        role: "worker",
        version: "1.0.0",
        pid: process.pid,
        place: "bench",
        capacity,
        beatMs: leaseMs / 4,
      },
      startedAt: new Date(clock.now()).toISOString(),
    },
    agents: () => served,
    load: () => ({ runs: host.activeRuns(), busy: host.busyRuns(), draining: host.isDraining() }),
  });
  const hosts = createHostDirectory({ bus, subjects, clock, logger: silentLogger, own: announcer });
  const deps: HostDeps = {
    ...{ journal: ports.journal, queue: ports.queue, bus, subjects, models, clock, hosts, leaseMs },
    tools: createToolHost({ tools: [] }),
    agentSource: { load: async () => registry },
    verifiers: builtinVerifiers,
    logger: silentLogger,
    invalidMessages: createInvalidMessages(),
    failpoint: noFailpoints,
    hostId: name,
  };
  const host = createActorHost({ deps, capacity, agents, localities: [] });
  await hosts.start();
  await host.start();
  await announcer.start();
  return {
    deps,
    ports,
    host,
    async waitForHosts(names) {
      const areAlive = (): boolean => names.every((each) => hosts.list().some((view) => view.host === each));
      if (areAlive()) return;
      const allAlive = Promise.withResolvers<void>();
      const stop = hosts.onChange(() => areAlive() && allAlive.resolve());
      await allAlive.promise;
      stop();
    },
    async close() {
      announcer.stop();
      await host.stop({ graceMs: 0 });
      hosts.stop();
      await ports.close();
      await link.close();
    },
  };
}

function toServed(definition: AgentDefinition | undefined): ServedAgent[] {
  if (!definition) return [];
  const { prompt: _, ...agent } = definition;
  return [{ definition: agent, hash: definitionHashOf(definition) }];
}
