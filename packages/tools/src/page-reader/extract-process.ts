import { isMainThread, Worker } from "node:worker_threads";
import type { PageJob } from "./page-job.ts";

// The process in which pages are read, and beside it a thread that ends it when nobody is there any more to read for: a
// page that is at work may not let its process hear of anything.

if (isMainThread) serve();
else watchParent();

function serve(): void {
  new Worker(new URL(import.meta.url)).unref();
  // Nothing in here has a reason to ask the network.
  globalThis.fetch = () => Promise.reject(new Error("nothing is fetched while a page is read"));
  process.on("disconnect", () => process.exit());
  process.on("message", (job: PageJob) => void answer(job));
}

async function answer(job: PageJob): Promise<void> {
  try {
    const { extractPage } = await import("./extract-page.ts");
    process.send?.({ page: await extractPage(job) });
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
