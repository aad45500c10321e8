import { randomInt } from "node:crypto";
import { hostname } from "node:os";
import { type ActorHost, clearFolders, createActorHost, resumeOpenRuns } from "@troupe/runtime";
import { type Cleanup, withTimeout } from "../cleanup.ts";
import type { ProcessParts } from "./open-process.ts";
import type { ServeOptions } from "./running-troupe.ts";

/** How long a graceful stop lets model calls and tools go on before it leaves them to others. */
const drainGraceMs = 5_000;

/** What comes after the grace: parking all that is left, over a server that may have gone. */
const parkMs = 5_000;

/** A process's share of the work, and what others hear of it. */
export interface LocalHost {
  /** Tells others of it. Nothing is taken before `start`. */
  announce(onDrain: (by: string) => void): Promise<void>;
  start(): Promise<void>;
  /** Takes nothing new, and leaves every run to others. Idempotent, and bounded. */
  drain(): Promise<void>;
  /** The same, and hears nothing afterwards. */
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
      // What others have left is in nobody's way.
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

/** Sees to it that open runs go on, here or elsewhere; and stops doing so with what is undone. */
export async function resumeRuns({ deps }: ProcessParts, cleanup: Cleanup): Promise<readonly string[]> {
  const { offered, stop } = await resumeOpenRuns(deps);
  cleanup.add(stop);
  return offered;
}

/** A name that no other process has, and that may stand in a subject. */
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
