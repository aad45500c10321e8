import { EventEmitter } from "node:events";
import { Readable, Writable } from "node:stream";
import { runProgram } from "@troupe/cli";
import { locateHome } from "troupe/internal";
import { cleanEnv } from "./clean-env.ts";
import type { CliOptions, CliResult } from "./cli.ts";
import { until } from "./until.ts";

/** A `troupe …` command that runs in this process. */
export interface InProcessCommand {
  stdout(): string;
  stderr(): string;
  /** Resolves with the match when stdout or stderr has had this; rejects when the command ends without it. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal to this command alone. */
  send(signal: "SIGINT" | "SIGTERM"): void;
  ended: Promise<CliResult>;
  isOver(): boolean;
}

/** Starts one `troupe …` command in this process: the real program and composition, in an environment of its own. */
export function startInProcess(args: string[], options: CliOptions): InProcessCommand {
  const [stdout, stderr] = [collectText(), collectText()];
  const signals = new EventEmitter();
  const run = async (): Promise<CliResult> => {
    const { composition, createTerminal, ownVersion, systemProcesses, watchInterrupts } = await import(
      "@troupe/cli/internal"
    );
    const env = { ...cleanEnv(options.home), ...options.env };
    const cwd = options.cwd ?? options.home;
    const version = ownVersion();
    const terminal = createTerminal({ stdout: stdout.stream, stderr: stderr.stream, env });
    const interrupts = watchInterrupts({ source: signals, exit: () => {} });
    const createCli = async () => ({
      env,
      cwd,
      home: locateHome({ env, cwd }),
      version,
      terminal,
      stdin: stdinOf(options),
      keyboard: {
        isTerminal: false,
        readKey: async () => null,
        readLine: async () => null,
        readSecret: async () => null,
      },
      interrupts,
      composition,
      now: Date.now,
      openPage: async () => false,
      processes: systemProcesses({ env, cwd }),
    });
    const code = await runProgram(args, { version, terminal, interrupts, createCli });
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
  let isOver = false;
  const ended = run().finally(() => {
    isOver = true;
  });
  const matchOf = (pattern: RegExp) => pattern.exec(stdout.text()) ?? pattern.exec(stderr.text());
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    async waitForOutput(pattern) {
      const match = (await until(() => isOver || matchOf(pattern))) && matchOf(pattern);
      if (!match) throw new Error(`it ended without ${pattern}:\n${stdout.text()}${stderr.text()}`);
      return match;
    },
    send: (signal) => void signals.emit(signal),
    ended,
    isOver: () => isOver,
  };
}

function stdinOf({ input }: CliOptions) {
  if (input === undefined) return { kind: "none" as const, open: () => Readable.from([]) };
  return { kind: "pipe" as const, open: () => Readable.from([Buffer.from(input)], { objectMode: false }) };
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
