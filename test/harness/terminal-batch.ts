/**
 * Runs commands of troupe one after another at the terminal of this process, because the start of a process for each costs
 * more than most commands. Its argument is a JSON file with the words of each command. A line ends the output of each one.
 */
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { runProgram } from "@troupe/cli";
import { composition, createTerminal, ownVersion, systemProcesses, watchInterrupts } from "@troupe/cli/internal";
import { locateHome } from "troupe/internal";

const { env } = process;
const cwd = process.cwd();
const commands = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as string[][];
const terminal = createTerminal({ stdout: process.stdout, stderr: process.stderr, env });
const interrupts = watchInterrupts({ source: process, exit: (code) => process.exit(code) });
const version = ownVersion();
const createCli = async () => ({
  ...{ env, cwd, home: locateHome({ env, cwd }), version, terminal, interrupts, composition, now: Date.now },
  stdin: { kind: "none" as const, open: () => Readable.from([]) },
  keyboard: {
    isTerminal: false,
    readKey: async () => null,
    readLine: async () => null,
    readSecret: async () => null,
  },
  openPage: async () => false,
  processes: systemProcesses({ env, cwd }),
});
for (const args of commands) {
  const code = await runProgram(args, { version, terminal, interrupts, createCli });
  process.stdout.write(`\n=== ended with ${code}\n`);
}
process.exit(0);
