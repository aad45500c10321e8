import { type ChildProcess, spawn } from "node:child_process";
import type { TestContext } from "vitest";
import { cleanEnv } from "./clean-env.ts";
import { type CliResult, watchProcess } from "./cli.ts";
import { startInProcess } from "./cli-in-process.ts";
import { cliPath } from "./cli-path.ts";

/** The ready line of a worker. */
export interface WorkerReady {
  event: "ready";
  host: string;
  agents: string[];
  capacity: number;
  place: string;
  bus: string;
  pid: number;
}

/** A real worker in a process of its own, ready or not yet. */
export interface TestWorker {
  process: ChildProcess;
  ready: Promise<WorkerReady>;
  /** Resolves with the match when it has said this on stderr. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  stderr(): string;
  ended: Promise<CliResult>;
  kill(signal: NodeJS.Signals): Promise<CliResult>;
}

export interface WorkerOptions {
  home: string;
  test: Pick<TestContext, "onTestFinished">;
  env?: Record<string, string>;
  flags: string[];
}

/** Starts `troupe worker`; it is killed when the test is over. */
export function startWorker({ home, test, env, flags }: WorkerOptions): TestWorker {
  const child = spawn(process.execPath, [cliPath, "worker", "--json", ...flags], {
    cwd: home,
    env: { ...cleanEnv(home), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { waitForOutput, stderr, ended } = watchProcess(child);
  const ready = readyOf({ waitForOutput });
  const kill = async (signal: NodeJS.Signals): Promise<CliResult> => {
    child.kill(signal);
    return await ended;
  };
  test.onTestFinished(async () => void (await kill("SIGKILL")));
  return { process: child, ready, waitForOutput, stderr, ended, kill };
}

/** A worker in the test's process, for tests that only stop it. */
export interface InProcessWorker extends Pick<TestWorker, "ready" | "waitForOutput" | "stderr" | "ended"> {
  isOver(): boolean;
  /** SIGTERM, as a service manager sends it. */
  stop(): Promise<CliResult>;
}

/** Runs `troupe worker` in this process, because the start of a process costs more than the work of most workers. */
export function startWorkerInProcess({ home, test, env = {}, flags }: WorkerOptions): InProcessWorker {
  const command = startInProcess(["worker", "--json", ...flags], { home, env });
  const ready = readyOf(command);
  const stop = async (): Promise<CliResult> => {
    if (!command.isOver()) command.send("SIGTERM");
    return await command.ended;
  };
  test.onTestFinished(async () => void (await stop()));
  const { waitForOutput, stderr, ended, isOver } = command;
  return { ready, waitForOutput, stderr, ended, isOver, stop };
}

/** The ready line of a worker; rejects if it ends before. */
function readyOf({ waitForOutput }: Pick<TestWorker, "waitForOutput">): Promise<WorkerReady> {
  const ready = waitForOutput(/^\{"event":"ready".*\}$/m).then(([line]): WorkerReady => JSON.parse(line));
  // A test that does not wait for it reads how the worker ended.
  ready.catch(() => {});
  return ready;
}
