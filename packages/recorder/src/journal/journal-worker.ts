import { Worker } from "node:worker_threads";
import type { RestoredJournalFile } from "./journal-store.ts";
import type { OpenFile } from "./thread-messages.ts";

/** A checkout has the source (`.ts`), a package the compiled file (`.js`). */
const threadUrl = new URL(`./journal-thread${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

/** Threads whose journal was closed. A new thread costs 30 ms of the processor, as much as all the rest of a short journal. */
const idle = new Map<Worker, NodeJS.Timeout>();
const idleMax = 2;
const idleMs = 10_000;

/** A thread that opens a journal's file: an idle one, or a new one. Its first message says whether it could. */
export function startJournalWorker(file: string, restored?: RestoredJournalFile): Worker {
  const worker = takeIdle() ?? startWorker();
  const message: OpenFile = restored ? { kind: "open", file, restored } : { kind: "open", file };
  worker.postMessage(message);
  return worker;
}

/** Leaves a thread that has closed its file to the next journal of this process. */
export function releaseJournalWorker(worker: Worker): void {
  if (idle.size >= idleMax) return void worker.terminate();
  worker.unref();
  const timer = setTimeout(() => {
    idle.delete(worker);
    void worker.terminate();
  }, idleMs);
  idle.set(worker, timer.unref());
}

function takeIdle(): Worker | null {
  for (const [worker, timer] of idle) {
    clearTimeout(timer);
    idle.delete(worker);
    worker.ref();
    return worker;
  }
  return null;
}

function startWorker(): Worker {
  // Without the flags of this process: a preload with a relative path would fail in another working folder.
  const worker = new Worker(threadUrl, { name: "troupe-journal", execArgv: [] });
  worker.once("exit", () => {
    clearTimeout(idle.get(worker));
    idle.delete(worker);
  });
  // An idle thread has no other listener for its failure.
  return worker.on("error", () => {});
}
