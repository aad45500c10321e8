import type { TestContext } from "vitest";
import { type InProcessDaemon, startDaemon, startDaemonInProcess, type TestDaemon } from "./daemon.ts";
import { writeFastDemo } from "./fast-demo.ts";
import { useShared } from "./shared-fixture.ts";
import { tempFolder } from "./temp-folder.ts";

export interface DemoDaemon extends InProcessDaemon {
  home: string;
}

export interface KillableDemoDaemon extends TestDaemon {
  home: string;
  /** The same home on the same port, after a kill. */
  startAgain(): Promise<TestDaemon>;
}

type Test = Pick<TestContext, "onTestFinished">;

/** For a test of a finished session: the page draws every step between. */
const timesFasterDefault = 40;

/** A daemon that plays the shipped demo, only faster, whatever it is asked. It runs in the test's process. */
export async function startDemoDaemon(
  test: Test,
  timesFaster = timesFasterDefault,
  flags: string[] = [],
): Promise<DemoDaemon> {
  const { home, env } = await createDemoHome(test, timesFaster);
  return { ...(await startDaemonInProcess({ home, test, env, flags })), home };
}

/** The same in a process of its own, for a test that kills it. */
export async function startKillableDemoDaemon(
  test: Test,
  timesFaster = timesFasterDefault,
): Promise<KillableDemoDaemon> {
  const { home, env } = await createDemoHome(test, timesFaster);
  const daemon = await startDaemon({ home, test, env });
  const { port } = new URL(daemon.url);
  return { ...daemon, home, startAgain: () => startDaemon({ home, test, env, flags: ["--port", port] }) };
}

async function createDemoHome(test: Test, timesFaster: number) {
  const home = await tempFolder("browser", test);
  return { home, env: { TROUPE_MODEL: `scripted/${await writeFastDemo(home, timesFaster)}` } };
}

/** One such daemon for all tests of a file, where none of them minds the sessions of the others. */
export function useDemoDaemon(timesFaster?: number): () => DemoDaemon {
  return useShared((test) => startDemoDaemon(test, timesFaster));
}
