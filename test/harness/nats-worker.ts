import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "vitest";
import { cleanEnv } from "./clean-env.ts";
import { cliPath } from "./cli-path.ts";

/** A `troupe worker` in a process of its own. */
export interface NatsWorker {
  pid: number;
  stderr(): string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(): Promise<void>;
}

/** Starts a worker and waits for its ready line. */
export async function startNatsWorker(options: {
  home: string;
  /** Kills the worker when this test is over, however it ends. */
  test: Pick<TestContext, "onTestFinished">;
  name: string;
  agents: readonly string[];
  flags: readonly string[];
  env?: Record<string, string>;
}): Promise<NatsWorker> {
  const { home, name, agents, flags, env } = options;
  const args = ["worker", "--json", "--name", name, "--agents", agents.join(","), ...flags];
  const child = spawn(process.execPath, [cliPath, ...args], {
    env: { ...cleanEnv(home), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await ended;
  };
  options.test.onTestFinished(kill);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const lines = createInterface({ input: child.stdout });
  const ready = await Promise.race([once(lines, "line"), ended.then(() => null)]);
  if (ready === null) throw new Error(`the worker ${name} ended before it was ready:\n${stderr}`);
  return { pid: child.pid ?? 0, stderr: () => stderr, ended, kill };
}
