import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import type { Scope } from "./scope.ts";

const run = promisify(execFile);
const pending = new Set<readonly [string, ...string[]]>();

process.once("exit", () => {
  for (const [command, ...args] of [...pending].reverse()) {
    try {
      execFileSync(command, args, { stdio: "ignore" });
    } catch {
      // Gone with something else that was undone.
    }
  }
});

/** A command that undoes something of the machine's: with the scope, or, where this process is ended before, with it. */
export function cleanUpAtExit(scope: Scope, ...command: [string, ...string[]]): void {
  pending.add(command);
  scope.onTestFinished(async () => {
    pending.delete(command);
    const [name, ...args] = command;
    await run(name, args);
  });
}
