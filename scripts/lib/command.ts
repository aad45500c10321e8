import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cleanEnvironment } from "./environment.ts";
import { root } from "./project.ts";

/** Result of a command. `output` has both streams in order of arrival, and is empty when they were passed on. */
export interface CommandResult {
  code: number;
  output: string;
}

export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Destination of the streams: our stdout and stderr, both to stderr, or the result. */
  output?: "inherit" | "stderr" | "capture";
  /** Ends the command with SIGTERM. */
  signal?: AbortSignal;
}

/**
 * Runs a command to its end, with no standard input and a clean environment. A command that cannot be started ends
 * with code 127, as in a shell; one that died of a signal with 1. Never throws.
 */
export function run(command: string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { cwd = root, env = cleanEnvironment(), output = "inherit", signal } = options;
  const [file = "", ...args] = command;
  const stream = { inherit: ["inherit", "inherit"], stderr: [2, 2], capture: ["pipe", "pipe"] }[output];
  return new Promise((resolve) => {
    const stdio = ["ignore", ...stream] as ("ignore" | "pipe" | 2)[];
    const child = spawn(file, args, { cwd, env, stdio, ...(signal ? { signal } : {}) });
    let text = "";
    const collect = (chunk: Buffer): void => {
      text += chunk.toString();
    };
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    child.on("error", (error) => {
      // A child that the signal ends still closes its streams, and then is done.
      if (error.name !== "AbortError") resolve({ code: 127, output: `${text}${error.message}\n` });
    });
    child.once("close", (code) => resolve({ code: code ?? 1, output: text }));
  });
}

/** Every executable file of that name on the PATH, first one first. */
export function findOnPath(name: string, path: string = process.env.PATH ?? ""): string[] {
  return path
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .filter(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The words that start pnpm: the one on the PATH (of which the one that runs us comes first), else npx's. */
export function pnpmCommand(path: string | undefined = cleanEnvironment().PATH): string[] {
  return findOnPath("pnpm", path).length > 0 ? ["pnpm"] : ["npx", "-y", "pnpm@12"];
}

/** Everything of the scripts that is not a result goes to stderr: stdout belongs to the program. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
