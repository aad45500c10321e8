import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { describe, type TestContext } from "vitest";
import { cleanEnv } from "./clean-env.ts";
import { type CliOptions, type CliProcess, watchProcess } from "./cli.ts";
import { cliPath } from "./cli-path.ts";

/** A `troupe …` in a pseudo-terminal. Its `stdout` is the whole screen. */
export interface TerminalProcess extends CliProcess {
  type(text: string): void;
  /** Types a key after a pause: an answer must be typed after the question is shown. */
  answer(key: string): Promise<void>;
}

/** Longer than a key is taken for one that was typed ahead. */
const readingMs = 500;

/** A group of tests at terminals; where there can be none it is skipped, under a name that says why. */
export function describeAtTerminal(name: string, define: () => void): void {
  if (process.platform === "linux") describe.concurrent(name, define);
  else describe.skip(`${name} (no terminal that a program can type into: only made on Linux)`, define);
}

/**
 * Starts one `troupe …` command at the keyboard of a pseudo-terminal. `script`, which makes it, is on every Linux: it is
 * of util-linux, as `kill` and `mount` are. Its other form on the BSDs cannot be fed through a pipe.
 *
 * @param options.program the words that start another `troupe` than the built one
 * @param options.columns @default 100
 */
export function startInTerminal(
  args: string[],
  options: CliOptions & {
    test: Pick<TestContext, "onTestFinished">;
    program?: readonly string[];
    columns?: number;
  },
): TerminalProcess {
  const words = [...(options.program ?? [process.execPath, cliPath]), ...args].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );
  const command = `stty cols ${options.columns ?? 100} rows 40; exec ${words.join(" ")}`;
  const child = spawn("script", ["--quiet", "--flush", "--return", "--command", command, "/dev/null"], {
    cwd: options.cwd ?? options.home,
    env: { ...cleanEnv(options.home), TERM: "xterm", SHELL: "/bin/sh", ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // The screen goes with its process.
  child.stdin.on("error", () => {});
  const running = watchProcess(child);
  options.test.onTestFinished(async () => {
    child.kill("SIGKILL");
    await running.ended;
  });
  const type = (text: string): void => void child.stdin.write(text);
  return {
    ...running,
    type,
    async answer(key) {
      await delay(readingMs);
      type(key);
    },
  };
}
