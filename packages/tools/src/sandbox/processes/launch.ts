import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { RunFailure } from "@troupe/core";
import { type ControlGroup, gateArguments } from "./control-group.ts";
import { watchGroup } from "./host-watcher.ts";

/** The arguments, folder and environment with which this machine starts a command. */
export interface Launch {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Rendered mount plan, which the sandbox program reads from `setupPipe`; null for a command without a sandbox. */
  setup: string | null;
  /** The control groups that a command without a sandbox joins. @default none */
  group?: ControlGroup | null;
  /** Descriptors of this process that the sandbox program gets, from `firstPassedDescriptor` on. @default none */
  descriptors?: readonly number[];
  /** A program that the sandbox program reads from a pipe, the descriptor after the passed ones. @default none */
  filter?: Uint8Array | null;
  /**
   * Checks what the plan of the sandbox was made from, while another process builds the sandbox. Returns the reason why
   * the command must not start, or null.
   */
  checkPlan?: () => string | null;
  /**
   * Checks a sandbox before its command starts. Gets the id of the sandbox's first process, and resolves to the reason
   * why the command must not start, or null.
   */
  verify?: (firstPid: string) => Promise<string | null>;
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
  /** Whether the command was allowed to start, and the reason if its mounts were refused. */
  permission: Promise<Permission>;
}

export interface Permission {
  isGiven: boolean;
  refusal: string | null;
}

/** Pipes of a sandbox: it reports its first process and its progress, reads its setup, and waits for permission. */
export const firstPidPipe = 3;
export const progressPipe = 4;
export const setupPipe = 5;
const permissionPipe = 6;
export const firstPassedDescriptor = 7;

/**
 * A script for `sh`, the last step of every sandbox: it waits until this process has checked the mounts, reports that the
 * sandbox is ready and runs the command in its arguments. If this process ends meanwhile, the command never starts.
 *
 * @param options.isFirst whether the script is the first process of its process namespace
 */
export function starterScript({ isFirst }: { isFirst: boolean }): string {
  return [
    `echo mounted >&${progressPipe}`,
    `read -r permission <&${permissionPipe} || exit 125`,
    `exec ${permissionPipe}<&-`,
    `command -v -- "$1" > /dev/null || { echo missing >&${progressPipe}; exit 127; }`,
    `echo ready >&${progressPipe}`,
    `exec ${progressPipe}>&-`,
    // The first process of a namespace ignores signals without a handler and adopts all orphans, so the command must not
    // be that process. The shell stays, and its own messages about signals are suppressed.
    isFirst ? 'exec 5>&2 2> /dev/null; (exec "$@") 2>&5 5>&-; exit $?' : 'exec "$@"',
  ].join("\n");
}

const gatePipe = 3;
/** Without a sandbox: the command starts when its group is watched, and never if this process has ended before. */
const gate = `read -r permission <&${gatePipe} || exit 125; exec ${gatePipe}<&-`;

/** Starts a command in a process group and session of its own. Throws a `RunFailure` if it cannot be started. */
export async function launch(start: Launch, input: string | Uint8Array | undefined): Promise<LaunchedCommand> {
  const { argv, cwd, env, setup, group = null, descriptors = [], filter = null } = start;
  const isSandboxed = setup !== null;
  const [program = "", ...args] = isSandboxed ? argv : [...gateArguments(gate, group), ...argv];
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: [
      input === undefined ? "ignore" : "pipe",
      "pipe",
      "pipe",
      ...(isSandboxed ? (["pipe", "pipe", "pipe", "pipe", ...descriptors] as const) : (["pipe"] as const)),
      ...(filter ? (["pipe"] as const) : []),
    ],
  });
  const streams = child.stdio as (Readable | null)[];
  const [, stdout, stderr] = streams;
  if (child.pid === undefined || !stdout || !stderr) {
    const [error] = await once(child, "error");
    throw couldNotStart(error?.code ?? String(error), error);
  }
  // It begins when it has read its setup or its permission: from then on it must be watched.
  await watchGroup(child.pid);
  const inputs = child.stdio as (Writable | null)[];
  if (setup === null) writeAll(inputs[gatePipe] ?? null, "start\n");
  else writeAll(inputs[setupPipe] ?? null, setup);
  if (filter) writeAll(inputs[firstPassedDescriptor + descriptors.length] ?? null, filter);
  if (input !== undefined) writeAll(child.stdin, input);
  const launched = { pid: child.pid, child, stdout, stderr };
  if (!isSandboxed) return { ...launched, ...withoutSandbox };
  const firstPid = readFirstMatch(streams[firstPidPipe], /\d+(?=\D)/);
  const [mounted, progress] = readMatches(streams[progressPipe], [/mounted\n/, /ready|missing/]);
  return { ...launched, firstPid, progress, permission: permitStart(child, start, { firstPid, mounted }) };
}

const withoutSandbox = {
  firstPid: Promise.resolve(null),
  progress: Promise.resolve("ready"),
  permission: Promise.resolve({ isGiven: true, refusal: null }),
};

/** Lets a sandbox start its command if its mounts are as planned, else ends it. */
async function permitStart(
  child: ChildProcess,
  { checkPlan = () => null, verify = async () => null }: Launch,
  { firstPid, mounted }: { firstPid: Promise<string | null>; mounted: Promise<string | null> },
): Promise<Permission> {
  const outdated = checkPlan();
  const [pid, isMounted] = await Promise.all([firstPid, mounted]);
  if (pid === null || isMounted === null) return { isGiven: false, refusal: outdated };
  const refusal = (await verify(pid)) ?? outdated;
  if (refusal === null) writeAll((child.stdio as (Writable | null)[])[permissionPipe] ?? null, "start\n");
  else child.kill("SIGKILL");
  return { isGiven: refusal === null, refusal };
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
  const [match] = readMatches(stream, [pattern]);
  return match;
}

/** The first match of each pattern in a stream; null if the stream ends without one. */
function readMatches<const T extends readonly RegExp[]>(
  stream: Readable | null | undefined,
  patterns: T,
): { [K in keyof T]: Promise<string | null> } {
  const matches = patterns.map((pattern) => ({ pattern, ...Promise.withResolvers<string | null>() }));
  const endAll = (): void => {
    for (const { resolve } of matches) resolve(null);
  };
  let text = "";
  stream?.on("data", (chunk: Buffer) => {
    text = `${text}${chunk.toString("latin1")}`.slice(0, 1_000);
    for (const { pattern, resolve } of matches) {
      const [found] = pattern.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    }
  });
  stream?.on("error", () => {});
  stream?.on("close", endAll);
  if (!stream) endAll();
  return matches.map(({ promise }) => promise) as { [K in keyof T]: Promise<string | null> };
}
