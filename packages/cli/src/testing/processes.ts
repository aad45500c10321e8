import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface TestProcess {
  child: ChildProcess;
  out(): string;
  err(): string;
  /** Resolves when stdout or stderr has had this; rejects when the process ends without it. */
  printed(pattern: RegExp): Promise<void>;
  /** The exit code, or the signal's name. */
  ended(): Promise<number | string | null>;
}

const running = new Set<ChildProcess>();

/** Runs a script of this folder in a process of its own. */
export function startScript(
  script: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; stdin?: "ignore" | "pipe" } = {},
): TestProcess {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    // Compiled code is kept, as in all tests: half of such a process is the loading of its modules.
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...options.env },
    stdio: [options.stdin ?? "ignore", "pipe", "pipe"],
  });
  running.add(child);
  let [out, err] = ["", ""];
  child.stdout?.on("data", (chunk) => {
    out += String(chunk);
  });
  child.stderr?.on("data", (chunk) => {
    err += String(chunk);
  });
  const closed = once(child, "close").then(([code, signal]) => {
    running.delete(child);
    return (code ?? signal) as number | string | null;
  });
  return {
    child,
    out: () => out,
    err: () => err,
    ended: () => closed,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (pattern.test(out) || pattern.test(err)) resolve();
        };
        child.stdout?.on("data", look);
        child.stderr?.on("data", look);
        void closed.then(() => reject(new Error(`ended without ${pattern}: ${out}${err}`)));
        look();
      }),
  };
}

/** Kills the processes that a failed test left behind. */
export function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}
