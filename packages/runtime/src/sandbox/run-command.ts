import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { RunFailure } from "@troupe/core";
import { endProcessGroup, keepProcessGroup } from "./process-group.ts";
import type { CommandEnd } from "./sandbox.ts";

type Child = ChildProcessByStdio<null, Readable, Readable>;

export interface CommandOptions {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  signal: AbortSignal;
  /** Output beyond this is counted and dropped, so that a flood costs no memory. */
  captureBytesMax: number;
}

/** How long to wait for the rest of the output: processes that left the group may hold its pipes for ever. */
const drainMs = 500;

/**
 * Runs one command line to its end, in a process group of its own that is gone afterwards, however it ended. Processes
 * that leave the group on purpose (`setsid`) are not caught.
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const [program = "", ...args] = options.argv;
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const capture = captureOutput(child, options.captureBytesMax);
  const closed = once(child, "close").catch(() => {});
  const group = await started(child);
  keepProcessGroup(group);
  const reason = await whatComesFirst(child, options);
  await endProcessGroup(group);
  await Promise.race([closed, delay(drainMs, undefined, { ref: false })]);
  child.stdout.destroy();
  child.stderr.destroy();
  return { reason, code: child.exitCode, signal: child.signalCode, ...capture() };
}

/** The id of the child's process group. */
async function started(child: Child): Promise<number> {
  if (child.pid === undefined) {
    const [error] = await once(child, "error");
    throw new RunFailure(
      { type: "tool_error", message: `the shell could not be started: ${error?.code ?? error}`, recoverable: false },
      { cause: error },
    );
  }
  return child.pid;
}

async function whatComesFirst(child: Child, { timeoutMs, signal }: CommandOptions): Promise<CommandEnd["reason"]> {
  const settled = new AbortController();
  const stop = { signal: settled.signal };
  const never = new Promise<never>(() => {});
  const after = async (event: Promise<unknown>, reason: CommandEnd["reason"]): Promise<CommandEnd["reason"]> => {
    await event;
    return reason;
  };
  try {
    if (signal.aborted) return "aborted";
    return await Promise.race([
      after(once(child, "exit"), "exited"),
      after(delay(timeoutMs, undefined, stop), "timeout").catch(() => never),
      after(once(signal, "abort", stop), "aborted").catch(() => never),
    ]);
  } finally {
    settled.abort();
  }
}

/** Keeps the beginning of the output, whatever its length. Returns what gives the text so far. */
function captureOutput(child: Child, bytesMax: number): () => Pick<CommandEnd, "output" | "stdout" | "droppedBytes"> {
  const chunks: Buffer[] = [];
  const own = new Set<Buffer>();
  let keptBytes = 0;
  let droppedBytes = 0;
  const keep = (chunk: Buffer, isStdout: boolean): void => {
    const kept = chunk.subarray(0, bytesMax - keptBytes);
    // A copy, so that a small part does not hold on to the whole chunk it came in.
    const part = kept.byteLength < chunk.byteLength ? Buffer.from(kept) : chunk;
    if (part.byteLength > 0) chunks.push(part);
    if (isStdout && part.byteLength > 0) own.add(part);
    keptBytes += kept.byteLength;
    droppedBytes += chunk.byteLength - kept.byteLength;
  };
  child.stdout.on("data", (chunk: Buffer) => keep(chunk, true));
  child.stderr.on("data", (chunk: Buffer) => keep(chunk, false));
  const textOf = (parts: Buffer[]): string => Buffer.concat(parts).toString("utf8");
  return () => ({ output: textOf(chunks), stdout: textOf(chunks.filter((part) => own.has(part))), droppedBytes });
}
