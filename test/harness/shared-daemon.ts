import { beforeAll, type TestContext } from "vitest";
import { type Company, startCompany } from "./company.ts";
import type { TestDaemon } from "./daemon.ts";
import { ledgerOf } from "./ledger.ts";
import { tempFolder } from "./temp-folder.ts";

export interface SharedDaemon extends TestDaemon {
  home: string;
  /** Of all processes together. */
  ledger: ReturnType<typeof ledgerOf>;
  journal: Company["journal"];
}

/** One daemon for all tests of a file, none of which minds the sessions of the others. It keeps a ledger. */
export function useDaemon(name: string, furnish?: (home: string) => Promise<unknown>): () => SharedDaemon {
  let daemon: SharedDaemon | undefined;
  beforeAll(async () => {
    const undo: Parameters<TestContext["onTestFinished"]>[0][] = [];
    const test: Pick<TestContext, "onTestFinished"> = { onTestFinished: (step) => void undo.push(step) };
    const home = await tempFolder(name, test);
    const ledger = ledgerOf(home);
    const { env } = ledger;
    const registry = await startCompany({ name, home, env, test, ...(furnish ? { furnish } : {}) });
    daemon = { ...registry.daemon, home, ledger, journal: registry.journal };
    return async (context: TestContext) => {
      for (const step of undo.reverse()) await step(context);
    };
  });
  return () => {
    if (!daemon) throw new Error("used outside of a test");
    return daemon;
  };
}
