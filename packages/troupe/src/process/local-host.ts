import { randomInt } from "node:crypto";
import { hostname } from "node:os";
import { type ActorHost, clearFolders, createActorHost, resumeOpenRuns } from "@troupe/runtime";
import { type Cleanup, withTimeout } from "../cleanup.ts";
import type { ProcessParts } from "./open-process.ts";
import type { ServeOptions } from "./running-troupe.ts";

/** How long a graceful stop waits for model and tool calls before other hosts take the runs. */
const drainGraceMs = 5_000;

/** Time to park the remaining runs after the grace, which can need a server that is gone. */
const parkMs = 5_000;

/** The host of this process, and its announcement to other hosts. */
export interface LocalHost {
  /** Announces the host. It takes no runs before `start`. */
  announce(onDrain: (by: string) => void): Promise<void>;
  start(): Promise<void>;
  /** Takes no new runs and gives every run to other hosts. Idempotent, with a time limit. */
  drain(): Promise<void>;
  /** Drains, then stops listening. */
  stop(): Promise<void>;
}

export function createLocalHost(parts: ProcessParts, { capacity }: ServeOptions, cleanup: Cleanup): LocalHost {
  const { deps, served, presence: membership, ports } = parts;
  const { shared } = ports;
  const names = shared ? { agents: served.ids, localities: [shared.locality] } : {};
  const host: ActorHost = createActorHost({ deps, capacity, ...names });
  cleanup.add(() => membership?.leave());
  let draining: Promise<void> | null = null;
  const end = async (work: Promise<void>): Promise<void> => {
    membership?.changed();
    if (shared) await withTimeout(drainGraceMs + shared.leaseMs + parkMs, work);
    else await work;
  };
  return {
    async announce(onDrain) {
      await membership?.join();
      await membership?.announce(host, onDrain);
    },
    async start() {
      // Deletes folders that killed processes left behind; the host does not wait for it.
      void clearFolders(deps);
      await host.start();
    },
    drain() {
      draining ??= end(host.drain({ graceMs: drainGraceMs }));
      return draining;
    },
    async stop() {
      await draining;
      await end(host.stop({ graceMs: drainGraceMs }));
    },
  };
}

/** Offers unfinished runs again, to this host and others, until the cleanup. Returns the ids of the offered runs. */
export async function resumeRuns({ deps }: ProcessParts, cleanup: Cleanup): Promise<readonly string[]> {
  const { offered, stop } = await resumeOpenRuns(deps);
  cleanup.add(stop);
  return offered;
}

/** A unique host id that is a valid token of a NATS subject. */
export function newHostId(role: string): string {
  const host =
    hostname()
      .split(".")[0]
      ?.replace(/[^A-Za-z0-9_-]/g, "-")
      .slice(0, 40) || "host";
  const unique = randomInt(36 ** 4)
    .toString(36)
    .padStart(4, "0");
  return `${role}-${host}-${unique}`;
}
