import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "vitest";
import { cleanEnv } from "./clean-env.ts";
import { startInProcess } from "./cli-in-process.ts";
import { cliPath } from "./cli-path.ts";

export interface CliResult {
  /** Null when a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  home: string;
  env?: Record<string, string>;
  cwd?: string;
  input?: string;
  /** The script that Node runs. @default the built command line */
  entry?: string;
  /** Whether it gets a process. @default true for `up` and `worker`, and with input, options of Node or a failpoint */
  ownProcess?: boolean;
}

/** A `troupe …` that is still running. */
export interface CliProcess {
  process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves with the match when stdout or stderr has had this; rejects when the process ends without it. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<CliResult>;
}

/** Commands whose process is part of what they promise: others find it, and it ends by a signal. */
const serving: ReadonlySet<string> = new Set(["up", "worker"]);

/**
 * Runs one `troupe …` command to its end. Commands that serve others have a process of their own, and so does a command
 * with standard input, options of Node or a place where its process dies. All others run in this process, because the
 * start of a process costs more than most of them. (test/e2e/in-process.test.ts compares both ways.)
 */
export function troupe(args: string[], options: CliOptions): Promise<CliResult> {
  const { input, entry, env = {} } = options;
  const isForProcess = "NODE_OPTIONS" in env || "TROUPE_TEST_FAILPOINT" in env;
  const needsProcess = input !== undefined || entry !== undefined || isForProcess || serving.has(args[0] ?? "");
  const { ownProcess = needsProcess } = options;
  return ownProcess ? spawnTroupe(args, options).ended : startInProcess(args, options).ended;
}

/** Starts one `troupe …` command, for a test that acts while it runs; it is killed when the test is over. */
export function startTroupe(
  args: string[],
  options: CliOptions & { test: Pick<TestContext, "onTestFinished"> },
): CliProcess {
  const running = spawnTroupe(args, options);
  options.test.onTestFinished(async () => {
    running.process.kill("SIGKILL");
    await running.ended;
  });
  return running;
}

/** A test that gave up waiting leaves its commands behind, and one of them may be a daemon. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

function spawnTroupe(args: string[], options: CliOptions): CliProcess {
  return startProgram([process.execPath, options.entry ?? cliPath, ...args], options);
}

/** Starts another `troupe` than the built one: the words of the program, and its arguments. */
export function startProgram([program = "", ...args]: string[], options: CliOptions): CliProcess {
  const child = spawn(program, args, {
    cwd: options.cwd ?? options.home,
    env: { ...cleanEnv(options.home), ...options.env },
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  // A command that refuses its arguments does not read stdin.
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.input);
  return watchProcess(child);
}

/** Collects a process's output and its result. The process ends with this one at the latest. */
export function watchProcess(child: ChildProcess): CliProcess {
  running.add(child);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close").then(([code]): CliResult => {
    running.delete(child);
    return { code, stdout, stderr };
  });
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    waitForOutput: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(stdout) ?? pattern.exec(stderr);
          if (match) resolve(match);
        };
        child.stdout?.on("data", look);
        child.stderr?.on("data", look);
        void ended.then(() => reject(new Error(`it ended without ${pattern}:\n${stdout}${stderr}`)));
        look();
      }),
  };
}
