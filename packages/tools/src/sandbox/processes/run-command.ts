import { once } from "node:events";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { CommandResult } from "../sandbox.ts";
import { createCapture, readWholeCharacters } from "./command-output.ts";
import { unwatchGroup } from "./host-watcher.ts";
import { couldNotStart, type Launch, type LaunchedCommand, launch } from "./launch.ts";
import { type Reaper, reap, registerReaper } from "./reaper.ts";

export interface RunCommandOptions {
  input?: string | Uint8Array | undefined;
  timeoutMs: number;
  signal: AbortSignal;
  captureBytesMax: number;
  /** Creates the reaper that ends all processes of the command. */
  createReaper(launched: LaunchedCommand): Reaper;
}

/** Thrown if a sandbox could not be built, or did not show what was planned. The command did not start. */
export class SandboxFailedError extends Error {
  constructor(reason: string) {
    super(`the sandbox failed: ${reason}`);
    this.name = "SandboxFailed";
  }
}

const neverStarted: CommandResult = {
  reason: "aborted",
  code: null,
  signal: null,
  output: "",
  stdout: "",
  droppedBytes: 0,
};

/** How long to wait for the rest of the output: an escaped process may hold the pipes open for ever. */
const drainMs = 500;

/** Runs a command to its end, then ends all processes that it left behind, however it ended. */
export async function runCommand(start: Launch, options: RunCommandOptions): Promise<CommandResult> {
  if (options.signal.aborted) return neverStarted;
  const launched = await launch(start, options.input);
  const { child, stdout, stderr } = launched;
  const allOutput = createCapture(options.captureBytesMax);
  const stdoutOnly = createCapture(options.captureBytesMax);
  readWholeCharacters(stdout, (bytes) => {
    allOutput.add(bytes);
    stdoutOnly.add(bytes);
  });
  readWholeCharacters(stderr, allOutput.add);
  const closed = Promise.all([once(stdout, "close"), once(stderr, "close")]).catch(() => {});
  const reaper = options.createReaper(launched);
  registerReaper(reaper);
  const reason = await waitForEnd(launched, options);
  await reap(reaper);
  unwatchGroup(launched.pid);
  await Promise.race([closed, delay(drainMs, undefined, { ref: false })]);
  for (const stream of child.stdio) stream?.destroy();
  const { text: output, droppedBytes } = allOutput.read();
  if (reason === "exited") await checkStart(launched, output);
  return { reason, ...exitStatus(launched, start), output, stdout: stdoutOnly.read().text, droppedBytes };
}

/** Waits for the first of: exit, timeout, abort. */
async function waitForEnd(
  { child }: LaunchedCommand,
  { timeoutMs, signal }: RunCommandOptions,
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
    if (child.exitCode !== null || child.signalCode !== null) return "exited";
    return await Promise.race([
      after(once(child, "exit"), "exited"),
      after(delay(timeoutMs, undefined, stop), "timeout").catch(() => never),
      after(once(signal, "abort", stop), "aborted").catch(() => never),
    ]);
  } finally {
    settled.abort();
  }
}

/** Throws if the sandbox never reached the command: an exit code of the sandbox is not the command's result. */
async function checkStart({ progress, permission }: LaunchedCommand, output: string): Promise<void> {
  const giveUp = delay(drainMs, null, { ref: false });
  const reached = await Promise.race([progress, giveUp]);
  if (reached === "ready") return;
  if (reached === "missing") throw couldNotStart("ENOENT: the program does not exist");
  const permitted = await Promise.race([permission, giveUp]);
  const reason = permitted?.refusal ?? (output.trim().slice(0, 500) || "it printed no message");
  if (permitted?.isGiven === false) throw new SandboxFailedError(reason);
  // It may have run.
  throw couldNotStart(`the sandbox failed: ${reason}`);
}

/** Signals that a sandbox reports like a shell: as an exit code of 128 plus the signal's number. */
const reportedSignals = [
  ...(["SIGINT", "SIGQUIT", "SIGILL", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGSEGV", "SIGPIPE"] as const),
  ...(["SIGALRM", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGSYS"] as const),
];
const signalsByExitCode = new Map<number, string>(reportedSignals.map((name) => [128 + constants.signals[name], name]));

function exitStatus({ child }: LaunchedCommand, { setup }: Launch): Pick<CommandResult, "code" | "signal"> {
  const { exitCode: code, signalCode: signal } = child;
  const reported = setup !== null && code !== null ? signalsByExitCode.get(code) : undefined;
  return reported ? { code: null, signal: reported } : { code, signal };
}
