import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { RunFailure } from "@troupe/core";

/** A command, as this machine has to start it. */
export interface Launch {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** How its world is made: what it reads from `planPipe`, as long as that may be. Null where it has none. */
  plan: string | null;
}

/** A command that has been started. */
export interface Launched {
  pid: number;
  child: ChildProcess;
  stdout: Readable;
  stderr: Readable;
  /** The id of the first process in its sandbox, as the machine knows it; null where it has none. */
  firstPid: Promise<string | null>;
  /** `ready` once the command itself was reached, `missing` where there is no such program, null where neither was. */
  progress: Promise<string | null>;
}

/** The pipes of a sandbox: which process is the first one in it, how far it came, and how it is made. */
export const firstPidPipe = 3;
export const progressPipe = 4;
export const planPipe = 5;

/**
 * A script for `sh` that is the last step of every sandbox: it says that the sandbox stands, and runs the command that
 * its arguments are.
 */
export function starter({ stays }: { stays: boolean }): string {
  return [
    `command -v -- "$1" > /dev/null || { echo missing >&${progressPipe}; exit 127; }`,
    `echo ready >&${progressPipe}`,
    `exec ${progressPipe}>&-`,
    // The first process of a namespace hears no signal that it does not ask for, and collects everybody's orphans. It
    // keeps to itself what shells say of a signal.
    stays ? 'exec 5>&2 2> /dev/null; (exec "$@") 2>&5 5>&-; exit $?' : 'exec "$@"',
  ].join("\n");
}

/** Starts a command in a process group and a session of its own. Throws a `RunFailure` where that cannot be done. */
export async function launch(
  { argv, cwd, env, plan }: Launch,
  input: string | Uint8Array | undefined,
): Promise<Launched> {
  const [program = "", ...args] = argv;
  const contained = plan !== null;
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: [
      input === undefined ? "ignore" : "pipe",
      "pipe",
      "pipe",
      ...(contained ? (["pipe", "pipe", "pipe"] as const) : []),
    ],
  });
  const streams = child.stdio as (Readable | null)[];
  const [, stdout, stderr] = streams;
  if (child.pid === undefined || !stdout || !stderr) {
    const [error] = await once(child, "error");
    throw couldNotStart(error?.code ?? String(error), error);
  }
  if (plan !== null) hand((child.stdio as (Writable | null)[])[planPipe] ?? null, plan);
  if (input !== undefined) hand(child.stdin, input);
  return {
    pid: child.pid,
    child,
    stdout,
    stderr,
    firstPid: contained ? readUntil(streams[firstPidPipe], /\d+(?=\D)/) : Promise.resolve(null),
    progress: contained ? readUntil(streams[progressPipe], /ready|missing/) : Promise.resolve("ready"),
  };
}

/** Whoever reads no further than it likes breaks the pipe: that is its own affair. */
function hand(stream: Writable | null, text: string | Uint8Array): void {
  stream?.on("error", () => {});
  stream?.end(text);
}

export function couldNotStart(reason: string, cause?: unknown): RunFailure {
  return new RunFailure(
    { type: "tool_error", message: `the command could not be started: ${reason}`, recoverable: false },
    { cause },
  );
}

/** The first thing of a form that a stream says; null where it ends without. */
function readUntil(stream: Readable | null | undefined, form: RegExp): Promise<string | null> {
  return new Promise((resolve) => {
    let text = "";
    stream?.on("data", (chunk: Buffer) => {
      text = `${text}${chunk.toString("latin1")}`.slice(0, 1_000);
      const [found] = form.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    stream?.on("error", () => {});
    stream?.on("close", () => resolve(null));
    if (!stream) resolve(null);
  });
}
