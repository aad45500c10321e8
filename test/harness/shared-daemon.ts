import { beforeAll, type TestContext } from "vitest";
import type { InProcessDaemon } from "./daemon.ts";
import { ledgerOf } from "./ledger.ts";
import { tempFolder } from "./temp-folder.ts";
import { startHosts, type TestHosts } from "./test-hosts.ts";

export interface SharedDaemon extends InProcessDaemon {
  home: string;
  /** Of all processes together. */
  ledger: ReturnType<typeof ledgerOf>;
  journal: TestHosts["journal"];
}

/** One daemon for all tests of a file, none of which minds the sessions of the others. It keeps a ledger. */
export function useDaemon(name: string, prepareHome?: (home: string) => Promise<unknown>): () => SharedDaemon {
  let daemon: SharedDaemon | undefined;
  beforeAll(async () => {
    const cleanup: Parameters<TestContext["onTestFinished"]>[0][] = [];
    const test: Pick<TestContext, "onTestFinished"> = { onTestFinished: (step) => void cleanup.push(step) };
    const home = await tempFolder(name, test);
    const ledger = ledgerOf(home);
    const { env } = ledger;
    const hosts = await startHosts({ name, home, env, test, ...(prepareHome ? { prepareHome } : {}) });
    daemon = { ...hosts.daemon, home, ledger, journal: hosts.journal };
    return async (context: TestContext) => {
      for (const step of cleanup.reverse()) await step(context);
    };
  });
  return () => {
    if (!daemon) throw new Error("used outside of a test");
    return daemon;
  };
}
