import { isMainThread, Worker } from "node:worker_threads";
import type { ExtractInput } from "./extract-page.ts";

// The program of the extract process. The main thread extracts pages. The worker thread kills the process when its parent
// has died, because an extraction blocks the main thread and its events.

if (isMainThread) serve();
else watchParent();

function serve(): void {
  new Worker(new URL(import.meta.url)).unref();
  // No code of this process may use the network.
  globalThis.fetch = () => Promise.reject(new Error("extraction must not fetch"));
  process.on("disconnect", () => process.exit());
  process.on("message", (input: ExtractInput) => void reply(input));
}

async function reply(input: ExtractInput): Promise<void> {
  try {
    const { extractPage } = await import("./extract-page.ts");
    process.send?.({ page: await extractPage(input) });
  } catch (error) {
    process.send?.({ problem: error instanceof Error ? error.message : String(error) });
  }
}

function watchParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
  }, 1_000);
}
