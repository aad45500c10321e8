import type { Logger } from "@troupe/core";
import { AgentDefinition, type Bus, createSubjects, silentLogger } from "@troupe/core";
import type { ServedAgent } from "@troupe/core/internal";
import { createMemoryBus, createSimulatedClock } from "@troupe/core/memory";
import { definitionHashOf } from "../host/claim/run-spec.ts";
import { createAnnouncer, type HostAnnouncer, type HostFacts } from "./announcer.ts";
import { createHostDirectory, type HostDirectoryOptions, type RunningHostDirectory } from "./directory.ts";
import type { HostLoad } from "./host-table.ts";

export const beatMs = 2_000;

/** Processes on one bus, with simulated time. */
export interface HostsFixture {
  bus: Bus;
  clock: ReturnType<typeof createSimulatedClock>;
  subjects: ReturnType<typeof createSubjects>;
  logged: string[];
  logger: Logger;
  /** Starts a host that announces itself. */
  host(name: string, options?: HostOptions): Promise<TestHost>;
  /** Starts a directory, with or without an own host. */
  directory(options?: Partial<HostDirectoryOptions>): Promise<RunningHostDirectory>;
  /** Advances time in small steps, so that messages are delivered in between. */
  pass(ms: number): Promise<void>;
}

export interface HostOptions extends Partial<Omit<HostFacts, "host">> {
  agents?: readonly ServedAgent[];
  onDrain?(by: string): void;
}

export interface TestHost extends HostAnnouncer {
  serve(agents: readonly ServedAgent[]): void;
  work(load: Partial<HostLoad>): void;
}

/** Resolves when all messages so far were delivered. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

export function served(id: string, changes: Partial<AgentDefinition> = {}): ServedAgent {
  const source = { origin: "user" as const, path: `${id}.md` };
  const definition = AgentDefinition.parse({
    id,
    name: id,
    description: `does ${id}`,
    prompt: "x",
    source,
    ...changes,
  });
  const { prompt: _, ...announced } = definition;
  return { definition: announced, hash: definitionHashOf(definition) };
}

export function createHostsFixture(bus: Bus = createMemoryBus()): HostsFixture {
  const clock = createSimulatedClock(1_000_000);
  const subjects = createSubjects();
  const logged: string[] = [];
  const note = (...[, message]: unknown[]): void => void logged.push(String(message));
  const logger = { ...silentLogger, warn: note, error: note } as Logger;
  const ports = { bus, subjects, clock, logger };
  return {
    bus,
    clock,
    subjects,
    logged,
    logger,
    async host(name, { agents = [], onDrain, ...facts } = {}) {
      const state = { agents, load: { runs: 0, busy: 0, draining: false } };
      const announcer = createAnnouncer({
        ...ports,
        facts: {
          ...{ host: name, role: "worker", version: "1.0.0", pid: 7, place: "box", capacity: 4, beatMs },
          startedAt: new Date(clock.now()).toISOString(),
          ...facts,
        },
        agents: () => state.agents,
        load: () => state.load,
        ...(onDrain ? { onDrain } : {}),
      });
      await announcer.start();
      await settle();
      return {
        ...announcer,
        serve(now) {
          state.agents = now;
          announcer.changed();
        },
        work: (load) => Object.assign(state.load, load),
      };
    },
    async directory(options = {}) {
      const directory = createHostDirectory({ ...ports, own: null, ...options });
      await directory.start();
      await settle();
      return directory;
    },
    async pass(ms) {
      for (let left = ms; left > 0; left -= 100) {
        clock.advance(Math.min(100, left));
        await settle();
      }
    },
  };
}
