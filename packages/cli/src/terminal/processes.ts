import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** The other processes of this program, as commands start and stop them. */
export interface Processes {
  /**
   * Starts this program again, in a session of its own, with its errors appended to a file. Resolves when it has printed a
   * line, or has ended.
   */
  startDetached(args: readonly string[], errors: string): Promise<DetachedStart>;
  /** Asks a process to end. False if it has ended already. */
  interrupt(pid: number): boolean;
}

/** The begin of a process that goes on without this one. */
export interface DetachedStart {
  /** The first line that it printed; null if it ended before. */
  firstLine: string | null;
  /** Its exit code, if it ended before its first line. */
  exitCode: number | null;
}

/** The real processes of this machine. */
export function systemProcesses({ env, cwd }: { env: NodeJS.ProcessEnv; cwd: string }): Processes {
  return {
    async startDetached(args, errors) {
      const log = openSync(errors, "a", 0o600);
      const [, script = ""] = process.argv;
      const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
        cwd,
        env,
        detached: true,
        stdio: ["ignore", "pipe", log],
      });
      closeSync(log);
      const { stdout } = child as ChildProcess & { stdout: Readable };
      const lines = createInterface({ input: stdout });
      const started = await new Promise<DetachedStart>((resolve, reject) => {
        child.once("error", reject);
        child.once("exit", (exitCode) => resolve({ firstLine: null, exitCode }));
        lines.once("line", (firstLine) => resolve({ firstLine, exitCode: null }));
      });
      // It prints nothing more on its standard output, so nothing reads it.
      lines.close();
      stdout.destroy();
      child.unref();
      return started;
    },
    interrupt(pid) {
      try {
        return process.kill(pid, "SIGINT");
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
        throw error;
      }
    },
  };
}
