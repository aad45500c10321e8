import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { RunFailure } from "@troupe/core";

/** The arguments, folder and environment with which this machine starts a command. */
export interface Launch {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Rendered mount plan, which the sandbox program reads from `setupPipe`; null for a command without a sandbox. */
  setup: string | null;
}

/** A command that has been started. */
export interface LaunchedCommand {
  pid: number;
  child: ChildProcess;
  stdout: Readable;
  stderr: Readable;
  /** Id of the sandbox's first process, in the machine's own numbers; null without a sandbox. */
  firstPid: Promise<string | null>;
  /** `ready` when the sandbox reached the command, `missing` if the program does not exist, null if neither happened. */
  progress: Promise<string | null>;
}

/** Pipes of a sandbox: it reports its first process and its progress, and reads its setup. */
export const firstPidPipe = 3;
export const progressPipe = 4;
export const setupPipe = 5;

/**
 * A script for `sh`, the last step of every sandbox: it reports that the sandbox is ready and runs the command in its
 * arguments.
 *
 * @param options.isFirst whether the script is the first process of its process namespace
 */
export function starterScript({ isFirst }: { isFirst: boolean }): string {
  return [
    `command -v -- "$1" > /dev/null || { echo missing >&${progressPipe}; exit 127; }`,
    `echo ready >&${progressPipe}`,
    `exec ${progressPipe}>&-`,
    // The first process of a namespace ignores signals without a handler and adopts all orphans, so the command must not
    // be that process. The shell stays, and its own messages about signals are suppressed.
    isFirst ? 'exec 5>&2 2> /dev/null; (exec "$@") 2>&5 5>&-; exit $?' : 'exec "$@"',
  ].join("\n");
}

/** Starts a command in a process group and session of its own. Throws a `RunFailure` if it cannot be started. */
export async function launch(
  { argv, cwd, env, setup }: Launch,
  input: string | Uint8Array | undefined,
): Promise<LaunchedCommand> {
  const [program = "", ...args] = argv;
  const isSandboxed = setup !== null;
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: [
      input === undefined ? "ignore" : "pipe",
      "pipe",
      "pipe",
      ...(isSandboxed ? (["pipe", "pipe", "pipe"] as const) : []),
    ],
  });
  const streams = child.stdio as (Readable | null)[];
  const [, stdout, stderr] = streams;
  if (child.pid === undefined || !stdout || !stderr) {
    const [error] = await once(child, "error");
    throw couldNotStart(error?.code ?? String(error), error);
  }
  if (setup !== null) writeAll((child.stdio as (Writable | null)[])[setupPipe] ?? null, setup);
  if (input !== undefined) writeAll(child.stdin, input);
  return {
    pid: child.pid,
    child,
    stdout,
    stderr,
    firstPid: isSandboxed ? readFirstMatch(streams[firstPidPipe], /\d+(?=\D)/) : Promise.resolve(null),
    progress: isSandboxed ? readFirstMatch(streams[progressPipe], /ready|missing/) : Promise.resolve("ready"),
  };
}

/** Errors are ignored: a command may close its input before it has read all of it. */
function writeAll(stream: Writable | null, text: string | Uint8Array): void {
  stream?.on("error", () => {});
  stream?.end(text);
}

export function couldNotStart(reason: string, cause?: unknown): RunFailure {
  return new RunFailure(
    { type: "tool_error", message: `the command could not be started: ${reason}`, recoverable: false },
    { cause },
  );
}

/** The first match of a pattern in a stream; null if the stream ends without one. */
function readFirstMatch(stream: Readable | null | undefined, pattern: RegExp): Promise<string | null> {
  return new Promise((resolve) => {
    let text = "";
    stream?.on("data", (chunk: Buffer) => {
      text = `${text}${chunk.toString("latin1")}`.slice(0, 1_000);
      const [found] = pattern.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    stream?.on("error", () => {});
    stream?.on("close", () => resolve(null));
    if (!stream) resolve(null);
  });
}
