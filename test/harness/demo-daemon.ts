import type { TestContext } from "vitest";
import { startDaemon, type TestDaemon } from "./daemon.ts";
import { writeFastDemo } from "./fast-demo.ts";
import { useShared } from "./shared-fixture.ts";
import { tempFolder } from "./temp-folder.ts";

export interface DemoDaemon extends TestDaemon {
  home: string;
  /** The same home on the same port, after a kill. */
  startAgain(): Promise<TestDaemon>;
}

type Test = Pick<TestContext, "onTestFinished">;

/** A daemon that plays the shipped demo, only faster, whatever it is asked. */
export async function startDemoDaemon(test: Test, timesFaster = 10, flags: string[] = []): Promise<DemoDaemon> {
  const home = await tempFolder("browser", test);
  const env = { TROUPE_MODEL: `scripted/${await writeFastDemo(home, timesFaster)}` };
  const daemon = await startDaemon({ home, test, env, flags });
  const { port } = new URL(daemon.url);
  return { ...daemon, home, startAgain: () => startDaemon({ home, test, env, flags: ["--port", port] }) };
}

/** One such daemon for all tests of a file, where none of them minds the sessions of the others. */
export function useDemoDaemon(timesFaster?: number): () => DemoDaemon {
  return useShared((test) => startDemoDaemon(test, timesFaster));
}
