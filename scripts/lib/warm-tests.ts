import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { TestReport } from "./vitest-report.ts";

/** Runs some tests of one file. */
export interface TestRequest {
  /** Relative to the checkout. */
  file: string;
  /** Matches the titles of the tests to run, joined by spaces. */
  pattern: string;
  /** Includes the tests of the long run. */
  long: boolean;
  /** Ends at the first red test. */
  bail: boolean;
  /** Paths of modules that are not the same as in the run before. */
  changed: string[];
}

export interface TestReply {
  tests: TestReport["tests"];
  /** Why the file failed outside of its tests. */
  problem: string | null;
  durationMs: number;
}

/** A process that is silent for longer is ended: the code under test may never return. */
const runMsMax = 4 * 60_000;
/** The process has this time to end its own children. */
const endMsMax = 5_000;

/**
 * A vitest that stays started between runs, for one file of tests at a time. Half of a short run is otherwise the start of vitest
 * and the compilation of modules that did not change.
 */
export class WarmTests implements AsyncDisposable {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #signal: AbortSignal;
  #process: ChildProcess | undefined;

  constructor(folder: string, options: { env: NodeJS.ProcessEnv; signal: AbortSignal }) {
    this.#folder = folder;
    this.#env = options.env;
    this.#signal = options.signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  /** Null if the process died, took too long, or was stopped. The next run starts another one. */
  async run(request: TestRequest): Promise<TestReply | null> {
    const child = this.#start();
    const replied = new AbortController();
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(runMsMax), replied.signal]);
    const first = async (event: string): Promise<unknown[]> => await once(child, event, { signal }).catch(() => []);
    child.send(request);
    const [message] = await Promise.race([first("message"), first("exit").then(() => [])]);
    // Ends the wait for the other event.
    replied.abort();
    if (message) return message as TestReply;
    await this.#end();
    return null;
  }

  #start(): ChildProcess {
    if (this.#process?.connected) return this.#process;
    const program = join(this.#folder, "scripts", "lib", "warm-tests-process.ts");
    // A process group of its own, so that workers that hang end with it.
    const child = fork(program, { cwd: this.#folder, env: this.#env, stdio: "ignore", detached: true });
    child.on("error", () => undefined);
    this.#process = child;
    return child;
  }

  async #end(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child?.pid) return;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit", { signal: AbortSignal.timeout(endMsMax) });
      child.kill("SIGTERM");
      await ended.catch(() => undefined);
    }
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The whole group has ended.
    }
  }
}
