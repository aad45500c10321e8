import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { TestContext } from "vitest";
import { type InProcessDaemon, startDaemon, startDaemonInProcess, type TestDaemon } from "../harness/daemon.ts";
import { writeAgent } from "../harness/home-files.ts";
import { ledgerOf } from "../harness/ledger.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { type InProcessWorker, startWorker, startWorkerInProcess, type TestWorker } from "../harness/worker.ts";

type Test = Pick<TestContext, "onTestFinished">;

/** Short enough for a test to see a takeover, long enough for a busy machine. */
export const leaseMs = 1_500;

/** A daemon and workers with the same scripted agents, each with its own home. */
export interface Troupes {
  namespace: string;
  /** All calls of all processes. */
  ledger: ReturnType<typeof ledgerOf>;
  /** In the test's process. */
  daemon(options?: ProcessOptions): Promise<InProcessDaemon & { home: string }>;
  /** In a process of its own, for a test that kills it. */
  daemonProcess(options?: ProcessOptions): Promise<TestDaemon & { home: string }>;
  /** In a process of its own. */
  worker(agents: string, options?: ProcessOptions): Promise<TestWorker & { home: string }>;
  /** In the test's process, for a test that only stops it, or that sees it end by itself. */
  workerInProcess(agents: string, options?: ProcessOptions): Promise<InProcessWorker & { home: string }>;
}

export interface ProcessOptions {
  /** Agent definitions in the user's folder. */
  has?: Record<string, Record<string, unknown>>;
  home?: string;
  flags?: string[];
  env?: Record<string, string>;
  /** @default with `--nats` and the address of the server */
  nats?: string[];
}

let namespaces = 0;

export async function createTroupes(test: Test, { url, agents }: { url: string; agents: Agents }): Promise<Troupes> {
  const namespace = `ns${process.pid}-${++namespaces}`;
  const shared = await tempFolder("troupes", test);
  const ledger = ledgerOf(shared);
  const scenario = await writeScenario(shared, agents);
  const prepare = async ({ has = {}, home, flags = [], env = {}, nats = ["--nats", url] }: ProcessOptions) => {
    const own = home ?? (await tempFolder("nats-home", test));
    await mkdir(path.join(own, "user"), { recursive: true });
    for (const [id, front] of Object.entries(has)) await writeAgent(own, id, front);
    return {
      home: own,
      flags: [...nats, "--namespace", namespace, "--lease", String(leaseMs), ...flags],
      env: { TROUPE_MODEL: `scripted/${scenario}`, ...ledger.env, ...env },
    };
  };
  return {
    namespace,
    ledger,
    async daemon(options = {}) {
      const prepared = await prepare(options);
      return { ...(await startDaemonInProcess({ ...prepared, test })), home: prepared.home };
    },
    async daemonProcess(options = {}) {
      const prepared = await prepare(options);
      return { ...(await startDaemon({ ...prepared, test })), home: prepared.home };
    },
    async worker(served, options = {}) {
      const { flags, ...prepared } = await prepare(options);
      const worker = startWorker({ ...prepared, test, flags: ["--agents", served, ...flags] });
      return { ...worker, home: prepared.home };
    },
    async workerInProcess(served, options = {}) {
      const { flags, ...prepared } = await prepare(options);
      const worker = startWorkerInProcess({ ...prepared, test, flags: ["--agents", served, ...flags] });
      return { ...worker, home: prepared.home };
    },
  };
}
