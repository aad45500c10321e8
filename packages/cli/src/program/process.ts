import { readFileSync, writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Composition } from "../cli.ts";
import { watchInterrupts } from "../terminal/interrupts.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { runProgram } from "./program.ts";

/** Runs the command line of this process and exits with its exit code. */
export async function runProcess(compose: () => Promise<Composition>): Promise<never> {
  const { env } = process;
  const terminal = createTerminal({ stdout: process.stdout, stderr: process.stderr, env });
  const interrupts = watchInterrupts({ source: process, exit: (code) => process.exit(code) });
  process.on("uncaughtException", (error) => {
    import("../render/failure.ts").then(
      ({ reportFailure }) => process.exit(reportFailure(error, { terminal, mode: "text" })),
      () => exitBroken(error),
    );
  });
  const version = ownVersion();
  const createCli = async () => {
    const [{ createCli: create }, composition] = await Promise.all([import("./create-cli.ts"), compose()]);
    return create({ version, terminal, interrupts, composition });
  };
  const exitCode = await runProgram(process.argv.slice(2), { version, terminal, interrupts, createCli });
  await Promise.all([terminal.out.flushed(), terminal.err.flushed()]);
  // The event with the error of the last write comes after its callback.
  await nextTurn();
  const failure = terminal.out.failure();
  return process.exit(failure === null ? exitCode : reportIncompleteOutput(failure));
}

function reportIncompleteOutput({ message }: Error): number {
  writeSync(
    2,
    `error: the output is not complete: ${message}\nfix:   free some disk space, or write to another file\n`,
  );
  return 1;
}

/** An installation with a missing dependency cannot load the code that prints errors. */
function exitBroken(error: Error): never {
  writeSync(2, `error: this installation of troupe is not complete: ${error.message}\n`);
  writeSync(2, "fix:   install troupe again\n");
  return process.exit(1);
}

/** The version in this package's manifest. A copy of the function in `troupe`, which `--version` must not load. */
export function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  return manifest.version;
}
