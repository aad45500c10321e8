import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { TestContext } from "vitest";
import { type InProcessDaemon, startDaemonInProcess } from "./daemon.ts";
import { type JournalView, journalOfHome, journalOverNats } from "./journal-view.ts";
import { startNatsServer } from "./nats-server.ts";
import { tempFolder } from "./temp-folder.ts";
import { startWorker, startWorkerInProcess, type TestWorker } from "./worker.ts";

/** All hosts that share the work of a test's sessions. No test kills the daemon, so it runs in the test's process. */
export interface TestHosts {
  daemon: InProcessDaemon;
  journal: JournalView;
}

export interface RestartableWorker extends TestWorker {
  /** With the same home and agents, and a name of its own. */
  startAnother(): Promise<TestWorker>;
}

export interface TestHostsOptions {
  name: string;
  home: string;
  env: Record<string, string>;
  test: Pick<TestContext, "onTestFinished">;
  /** Writes the owner's files; every machine gets the same ones. */
  prepareHome?(home: string): Promise<unknown>;
}

let hasWorker = false;
let isWorkerInProcess = false;

export function withWorker({ inProcess = false } = {}): void {
  hasWorker = true;
  isWorkerInProcess = inProcess;
}

/** Whether the tests of this file run with a worker. */
export function isWithWorker(): boolean {
  return hasWorker;
}

/** `it` or `describe` for tests that involve only one process. They are not repeated with a worker. */
export function onlyWithoutWorker<T>(register: T): T {
  return hasWorker ? (nothing as unknown as T) : register;
}

const nothing = Object.assign(() => {}, { for: () => () => {} });

export async function startHosts(options: TestHostsOptions): Promise<TestHosts> {
  const { home, test, env, prepareHome } = options;
  if (hasWorker) return await (isWorkerInProcess ? startWithWorkerInProcess : startWithWorker)(options);
  await prepareHome?.(home);
  return { daemon: await startDaemonInProcess({ home, test, env }), journal: journalOfHome(home) };
}

export async function startWithWorker(options: TestHostsOptions): Promise<TestHosts & { worker: RestartableWorker }> {
  const { workerOptions, ...hosts } = await startForWorker(options);
  const startAnother = async (): Promise<TestWorker> => {
    const another = startWorker(workerOptions);
    await another.ready;
    return another;
  };
  return { ...hosts, worker: { ...(await startAnother()), startAnother } };
}

async function startWithWorkerInProcess(options: TestHostsOptions): Promise<TestHosts> {
  const { workerOptions, ...hosts } = await startForWorker(options);
  await startWorkerInProcess(workerOptions).ready;
  return hosts;
}

/** Starts a server and the daemon, and prepares the home of the worker. */
async function startForWorker({ name, home, test, env, prepareHome }: TestHostsOptions) {
  const server = await startNatsServer();
  test.onTestFinished(() => server.stop());
  const workerHome = await tempFolder(`${name}-worker`, test);
  for (const each of [home, workerHome]) await prepareHome?.(each);
  const { askedByPeople, askedByAgents } = await agentsIn(home);
  const flagsFor = (agents: readonly string[]): string[] => ["--nats", server.url, "--agents", agents.join(",")];
  const daemon = await startDaemonInProcess({ home, test, env, flags: flagsFor(askedByPeople) });
  const flags = [...flagsFor(askedByAgents), "--capacity", "64"];
  const journal = await journalOverNats(server.url, test);
  return { daemon, journal, workerOptions: { home: workerHome, test, env, flags } };
}

/** People ask `main` and every user agent that delegates; agents ask all others. */
async function agentsIn(home: string): Promise<{ askedByPeople: string[]; askedByAgents: string[] }> {
  const [askedByPeople, askedByAgents] = [["main"], ["coder", "tester", "researcher"]];
  const folder = path.join(home, "agents");
  for (const file of await readdir(folder).catch(() => [])) {
    const delegates = /^subagents: /m.test(await readFile(path.join(folder, file), "utf8"));
    (delegates ? askedByPeople : askedByAgents).push(path.parse(file).name);
  }
  return { askedByPeople, askedByAgents };
}
