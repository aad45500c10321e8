import { beforeAll, type TestContext } from "vitest";
import { startDaemon, type TestDaemon } from "./daemon.ts";
import { ledgerOf } from "./ledger.ts";
import { tempFolder } from "./temp-folder.ts";

export interface SharedDaemon extends TestDaemon {
  home: string;
  ledger: ReturnType<typeof ledgerOf>;
}

/** One daemon for all tests of a file, none of which minds the sessions of the others. It keeps a ledger. */
export function useDaemon(name: string, furnish?: (home: string) => Promise<unknown>): () => SharedDaemon {
  let daemon: SharedDaemon | undefined;
  beforeAll(async () => {
    const undo: Parameters<TestContext["onTestFinished"]>[0][] = [];
    const test: Pick<TestContext, "onTestFinished"> = { onTestFinished: (step) => void undo.push(step) };
    const home = await tempFolder(name, test);
    await furnish?.(home);
    const ledger = ledgerOf(home);
    daemon = { ...(await startDaemon({ home, test, env: ledger.env })), home, ledger };
    return async (context: TestContext) => {
      for (const step of undo.reverse()) await step(context);
    };
  });
  return () => {
    if (!daemon) throw new Error("used outside of a test");
    return daemon;
  };
}
