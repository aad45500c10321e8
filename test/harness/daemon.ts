import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createHttpClient, type HttpClient } from "@troupe/runtime";
import type { TestContext } from "vitest";
import { cleanEnv } from "./clean-env.ts";
import { type CliProcess, startTroupe } from "./cli.ts";
import { startInProcess } from "./cli-in-process.ts";
import { cliPath } from "./cli-path.ts";
import { until } from "./until.ts";

/** A real daemon in a process of its own. */
export interface TestDaemon {
  pid: number;
  url: string;
  token: string;
  ready: Record<string, unknown>;
  client: HttpClient;
  process: ChildProcess;
  /** All that it has complained of, or told people. */
  stderr(): string;
  /** Resolves with its exit code and signal. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** SIGKILL, as a crash would. */
  kill(): Promise<void>;
  /** SIGINT, as Ctrl-C would. */
  stop(): Promise<void>;
}

export interface DaemonOptions {
  home: string;
  /** Kills the daemon when this test is over, however it ends. */
  test: Pick<TestContext, "onTestFinished">;
  env?: Record<string, string>;
  flags?: string[];
  /** The script that Node runs. @default the built command line */
  entry?: string;
}

/** Starts `troupe up` on a free port and waits for its ready line. */
export async function startDaemon(options: DaemonOptions): Promise<TestDaemon> {
  const flags = ["up", "--json", "--no-open", "--port", "0", ...(options.flags ?? [])];
  const child = spawn(process.execPath, [options.entry ?? cliPath, ...flags], {
    env: { ...cleanEnv(options.home), ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  options.test.onTestFinished(() => end("SIGKILL"));
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, "line").then(([line]) => String(line)), ended.then(() => null)]);
  if (first === null) throw new Error(`troupe up ended before it was ready:\n${stderr}`);
  const ready: Record<string, unknown> = JSON.parse(first);
  const url = String(ready.url);
  const token = String(ready.token);
  return {
    pid: Number(ready.pid),
    url,
    token,
    ready,
    client: createHttpClient({ url, token }),
    process: child,
    stderr: () => stderr,
    ended,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGINT"),
  };
}

/**
 * Starts `troupe up` in a home with an unfinished session, for a daemon that a failpoint kills, perhaps before it is ready.
 * Resolves with its process id when it is dead. `act` can kill it at another moment.
 */
export async function startDoomedDaemon(
  { home, test, env = {} }: DaemonOptions,
  act: (daemon: CliProcess) => Promise<unknown> = async () => {},
): Promise<number> {
  const daemon = startTroupe(["up", "--json", "--no-open", "--port", "0"], { home, env, test });
  await Promise.all([act(daemon), daemon.ended]);
  expectKilled(daemon.process.signalCode, daemon.stderr());
  return daemon.process.pid ?? 0;
}

/** Starts `troupe up` for a session during which a failpoint kills it, and resolves when it is dead. */
export async function submitToDoomedDaemon(options: DaemonOptions, request: Parameters<HttpClient["submit"]>[0]) {
  const daemon = await startDaemon(options);
  // The kill may come before the answer to this: the session is kept all the same.
  const accepted = await daemon.client.submit(request).catch(() => null);
  const { signal } = await daemon.ended;
  expectKilled(signal, daemon.stderr());
  return { pid: daemon.pid, accepted };
}

function expectKilled(signal: NodeJS.Signals | null, stderr: string): void {
  if (signal !== "SIGKILL")
    throw new Error(`the daemon did not reach its failpoint, and ended with ${signal}:\n${stderr}`);
}

/** A daemon in the test's process, for tests that only stop it. */
export type InProcessDaemon = Pick<TestDaemon, "pid" | "url" | "token" | "ready" | "client" | "stderr" | "stop">;

/** Runs `troupe up` in this process and waits for its ready line: the start of a process costs more than most sessions. */
export async function startDaemonInProcess(options: DaemonOptions): Promise<InProcessDaemon> {
  const { home, env = {}, flags = [] } = options;
  const command = startInProcess(["up", "--json", "--no-open", "--port", "0", ...flags], { home, env });
  const stop = async (): Promise<void> => {
    if (!command.isOver()) command.send("SIGINT");
    await command.ended;
  };
  options.test.onTestFinished(stop);
  await until(() => command.isOver() || command.stdout().includes("\n"));
  if (command.isOver()) throw new Error(`troupe up ended before it was ready:\n${command.stderr()}`);
  const ready: Record<string, unknown> = JSON.parse(command.stdout());
  const url = String(ready.url);
  const token = String(ready.token);
  return {
    ...{ pid: Number(ready.pid), url, token, ready, stop },
    client: createHttpClient({ url, token }),
    stderr: command.stderr,
  };
}
