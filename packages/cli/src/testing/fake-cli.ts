import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import type { Cli } from "../cli.ts";
import { runProgram } from "../program/program.ts";
import { watchInterrupts } from "../terminal/interrupts.ts";
import type { Processes } from "../terminal/processes.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { createFakeComposition, type FakeComposition } from "./fake-composition.ts";
import { createFakeKeyboard } from "./fake-keyboard.ts";

export interface FakeCli extends Cli {
  composition: FakeComposition;
  out(): string;
  err(): string;
  /** Sends a signal to this command alone. */
  send(signal: "SIGINT" | "SIGTERM"): void;
  /** Codes of exits at once. */
  exits: number[];
  opened: string[];
  run(...args: string[]): Promise<number>;
  /** Presses a key or types a line, as soon as it is asked for. */
  type(text: string): Promise<void>;
}

export interface FakeCliOptions {
  home?: string;
  composition?: FakeComposition;
  env?: NodeJS.ProcessEnv;
  /** Piped input. */
  input?: string;
  isTerminal?: boolean;
  /** True if a user can type. */
  hasKeyboard?: boolean;
  /** @default none can be started */
  processes?: Processes;
}

const folders: string[] = [];

/** A folder of its own, gone after `removeTemporaryFolders`. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "troupe-cli-"));
  folders.push(folder);
  return folder;
}

export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** The environment of a command in memory. Only its home is a real folder with a real lock. */
export function createFakeCli(options: FakeCliOptions = {}): FakeCli {
  const [stdout, stderr] = [collect(options.isTerminal), collect(options.isTerminal)];
  // Without the tester's own configuration.
  const env = { HOME: temporaryFolder(), ...options.env };
  const source = new EventEmitter();
  const exits: number[] = [];
  const opened: string[] = [];
  const { input } = options;
  const keyboard = createFakeKeyboard(options.hasKeyboard ?? false);
  const cli: FakeCli = {
    env,
    cwd: temporaryFolder(),
    home: { path: options.home ?? join(temporaryFolder(), "home") },
    version: "0.1.0",
    terminal: createTerminal({ stdout: stdout.stream, stderr: stderr.stream, env }),
    stdin: {
      kind: input === undefined ? "none" : "pipe",
      open: () => Readable.from(input === undefined ? [] : [input]),
    },
    keyboard,
    type: keyboard.type,
    interrupts: watchInterrupts({ source, exit: (code) => exits.push(code), monotonicMs: tick() }),
    composition: options.composition ?? createFakeComposition(),
    now: () => 10_000,
    openPage: async (url) => opened.push(url) > 0,
    processes: options.processes ?? { startDetached: noProcess, interrupt: () => false },
    out: stdout.text,
    err: stderr.text,
    send: (signal) => source.emit(signal),
    exits,
    opened,
    run: (...args) => {
      const { version, terminal, interrupts } = cli;
      return runProgram(args, { version, terminal, interrupts, createCli: async () => cli });
    },
  };
  return cli;
}

function noProcess(): never {
  throw new Error("this test starts no process");
}

/** A clock on which a second passes whenever it is read. */
function tick(): () => number {
  let at = 0;
  return () => {
    at += 1_000;
    return at;
  };
}

function collect(isTerminal = false): { stream: Writable & { isTTY?: boolean; columns?: number }; text(): string } {
  let text = "";
  const stream = new Writable({
    write(chunk, _encoding, callback) {
      text += String(chunk);
      callback();
    },
  });
  return { stream: isTerminal ? Object.assign(stream, { isTTY: true, columns: 80 }) : stream, text: () => text };
}
