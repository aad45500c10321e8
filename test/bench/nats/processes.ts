import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { WorkerMessage, WorkerOptions } from "./worker.ts";

/** A worker in a process of its own. */
export interface WorkerProcess {
  name: string;
  /** Resolves with the next word of this kind that it says. */
  next<S extends WorkerMessage["kind"]>(kind: S): Promise<WorkerMessage & { kind: S }>;
  /** CPU time that it has used so far. */
  cpuMs(): Promise<number>;
  kill(): Promise<void>;
}

export async function startWorker(options: WorkerOptions): Promise<WorkerProcess> {
  const child = forkScript("worker.ts", JSON.stringify(options));
  const next = async <S extends WorkerMessage["kind"]>(kind: S): Promise<WorkerMessage & { kind: S }> => {
    for (;;) {
      const [message] = (await once(child, "message")) as [WorkerMessage];
      if (message.kind === kind) return message as WorkerMessage & { kind: S };
    }
  };
  await next("ready");
  return {
    name: options.name,
    next,
    async cpuMs() {
      const answer = next("cpu");
      child.send("cpu");
      return (await answer).cpuMs;
    },
    kill: () => kill(child),
  };
}

/** Another process of this folder, which ends with this one. */
export function forkScript(script: string, ...args: string[]): ChildProcess {
  const file = fileURLToPath(new URL(script, import.meta.url));
  return fork(file, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
