import { once } from "node:events";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { CommandResult } from "../sandbox.ts";
import { createCapture, readWhole } from "./command-output.ts";
import { couldNotStart, type Launch, type Launched, launch } from "./launch.ts";
import { endAll, keep, type Reaper } from "./reaper.ts";

export interface RunOptions {
  input?: string | Uint8Array | undefined;
  timeoutMs: number;
  signal: AbortSignal;
  captureBytesMax: number;
  /** What holds on to all that the command starts. */
  keeperOf(launched: Launched): Reaper;
}

const neverStarted: CommandResult = {
  reason: "aborted",
  code: null,
  signal: null,
  output: "",
  stdout: "",
  droppedBytes: 0,
};

/** How long to wait for the rest of the output: a process that got away may hold its pipes for ever. */
const drainMs = 500;

/** Runs a command to its end, and ends everything that it left behind, however it ended. */
export async function runCommand(start: Launch, options: RunOptions): Promise<CommandResult> {
  if (options.signal.aborted) return neverStarted;
  const launched = await launch(start, options.input);
  const { child, stdout, stderr } = launched;
  const all = createCapture(options.captureBytesMax);
  const own = createCapture(options.captureBytesMax);
  readWhole(stdout, (bytes) => {
    all.add(bytes);
    own.add(bytes);
  });
  readWhole(stderr, all.add);
  const closed = Promise.all([once(stdout, "close"), once(stderr, "close")]).catch(() => {});
  const keeper = options.keeperOf(launched);
  keep(keeper);
  const reason = await whatComesFirst(launched, options);
  await endAll(keeper);
  await Promise.race([closed, delay(drainMs, undefined, { ref: false })]);
  for (const stream of child.stdio) stream?.destroy();
  const { text: output, droppedBytes } = all.read();
  if (reason === "exited") await checkStart(launched, output);
  return { reason, ...howItEnded(launched, start), output, stdout: own.read().text, droppedBytes };
}

async function whatComesFirst(
  { child }: Launched,
  { timeoutMs, signal }: RunOptions,
): Promise<CommandResult["reason"]> {
  const settled = new AbortController();
  const stop = { signal: settled.signal };
  const never = new Promise<never>(() => {});
  const after = async (event: Promise<unknown>, reason: CommandResult["reason"]): Promise<CommandResult["reason"]> => {
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

/** A command that its sandbox never came to did not end: it did not begin. */
async function checkStart({ progress }: Launched, output: string): Promise<void> {
  const reached = await Promise.race([progress, delay(drainMs, null, { ref: false })]);
  if (reached === "ready") return;
  if (reached === "missing") throw couldNotStart("ENOENT: there is no such program");
  throw couldNotStart(`the sandbox failed: ${output.trim().slice(0, 500) || "it said nothing"}`);
}

/** Signals that a sandbox tells of as shells do, by a number over 128. */
const toldByCode = [
  "SIGINT",
  "SIGQUIT",
  "SIGILL",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGKILL",
  "SIGSEGV",
  "SIGPIPE",
] as const;
const toldLater = ["SIGALRM", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGSYS"] as const;
const signalByCode = new Map<number, string>(
  [...toldByCode, ...toldLater].map((name) => [128 + constants.signals[name], name]),
);

function howItEnded({ child }: Launched, { plan }: Launch): Pick<CommandResult, "code" | "signal"> {
  const { exitCode: code, signalCode: signal } = child;
  const told = plan !== null && code !== null ? signalByCode.get(code) : undefined;
  return told ? { code: null, signal: told } : { code, signal };
}
