import { EventEmitter } from "node:events";
import { Readable, Writable } from "node:stream";
import { runProgram } from "@troupe/cli";
import { locateHome } from "troupe/internal";
import { cleanEnv } from "./clean-env.ts";
import type { CliOptions, CliResult } from "./cli.ts";

/** Runs one `troupe …` command in this process: the real program on the real composition, with an environment of its own. */
export async function runInProcess(args: string[], options: CliOptions): Promise<CliResult> {
  const { composition, createTerminal, ownVersion, watchInterrupts } = await import("@troupe/cli/internal");
  const env = { ...cleanEnv(options.home), ...options.env };
  const cwd = options.cwd ?? options.home;
  const version = ownVersion();
  const [stdout, stderr] = [collectText(), collectText()];
  const terminal = createTerminal({ stdout: stdout.stream, stderr: stderr.stream, env });
  const interrupts = watchInterrupts({ source: new EventEmitter(), exit: () => {} });
  const createCli = async () => ({
    env,
    cwd,
    home: locateHome({ env, cwd }),
    version,
    terminal,
    stdin: { kind: "none" as const, open: () => Readable.from([]) },
    keyboard: { isTerminal: false, readKey: async () => null, readLine: async () => null },
    interrupts,
    composition,
    now: Date.now,
    openPage: async () => false,
  });
  const code = await runProgram(args, { version, terminal, interrupts, createCli });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collectText(): { stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString("utf8") };
}
