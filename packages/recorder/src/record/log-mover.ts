import { statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { DatabaseProblem } from "../database/database-error.ts";
import type { DatabaseSpec } from "../database/open-database.ts";
import type { Database } from "../database/sqlite.ts";
import { toTroupeError } from "../database/troupe-error.ts";
import type { LogThreadData } from "./log-thread.ts";

/** The log of SQLite's own checkpoints has about as many bytes. */
const logBytesMax = 4 * 1024 * 1024;

/**
 * Moves the write-ahead log of the record into its file, on a thread of its own: SQLite's own checkpoints would wait for the
 * disk in the event loop.
 */
export interface LogMover {
  /** Does nothing while the log is short. No other write may happen until it resolves. */
  move(): Promise<void>;
  close(): void;
}

/** A checkout has the source (`.ts`), a package the compiled file (`.js`). */
const threadUrl = new URL(`./log-thread${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

export function createLogMover(database: Database, { file, whenDamaged }: DatabaseSpec): LogMover {
  database.pragma("wal_autocheckpoint = 0");
  let worker: Worker | null = null;
  let nextBytes = logBytesMax;

  const start = (): Worker => {
    const workerData: LogThreadData = { file, whenDamaged };
    const started = new Worker(threadUrl, { workerData, name: "troupe-record-log", execArgv: [] });
    // The next move starts another thread.
    started.on("error", () => {});
    started.once("exit", () => {
      worker = null;
    });
    started.unref();
    return started;
  };

  return {
    async move() {
      if (logBytes(file) < nextBytes) return;
      worker ??= start();
      const problem = await ask(worker);
      // A reader of an old state keeps the log from being emptied.
      const bytes = logBytes(file);
      nextBytes = bytes < logBytesMax ? logBytesMax : bytes + logBytesMax;
      if (problem) throw toTroupeError(problem);
    },
    close: () => void worker?.terminate(),
  };
}

function ask(worker: Worker): Promise<DatabaseProblem | null> {
  return new Promise((resolve) => {
    const answer = (problem: DatabaseProblem | null): void => {
      worker.off("message", answer);
      worker.off("exit", onExit);
      resolve(problem);
    };
    const onExit = (): void => answer(null);
    worker.on("message", answer);
    worker.on("exit", onExit);
    worker.postMessage(null);
  });
}

function logBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
