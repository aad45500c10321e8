import { execFile } from "node:child_process";
import { RunFailure } from "@troupe/core";
import { filtersOf, gitEnvironment } from "../commands/git-environment.ts";
import type { GitIdentity } from "../commands/git-identity.ts";

export interface HostGitOptions {
  /** Folder of the repository or of a worktree. */
  folder: string;
  identity?: GitIdentity;
  /** Variables to add to the safe git environment. */
  env?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** Output and exit code of git. */
export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

const timeoutMs = 120_000;
const outputBytesMax = 16 * 1024 * 1024;

/** Opens git for troupe itself, outside the sandbox. It runs no hook and no program that the repository names. */
export async function openHostGit(options: HostGitOptions): Promise<HostGit> {
  const listed = await runGit(["config", "--list", "--null", "--name-only"], { ...options, configKeys: [] });
  const configKeys = listed.code === 0 ? listed.stdout.split("\0").filter(Boolean) : [];
  const run = (args: readonly string[], env: Record<string, string> = {}): Promise<GitResult> =>
    runGit(args, { ...options, env: { ...options.env, ...env }, configKeys });
  return {
    filters: filtersOf(configKeys),
    run,
    async ask(args, env) {
      const end = await run(args, env);
      if (end.code === 0) return end.stdout.trimEnd();
      throw failed(args, end);
    },
  };
}

export interface HostGit {
  /** Names of the repository's filters that have a program. The program does not run. */
  readonly filters: readonly string[];
  run(args: readonly string[], env?: Record<string, string>): Promise<GitResult>;
  /** Resolves to the output. Throws a `RunFailure` with git's message if git fails. */
  ask(args: readonly string[], env?: Record<string, string>): Promise<string>;
}

function runGit(
  args: readonly string[],
  { folder, identity, env, signal, configKeys }: HostGitOptions & { configKeys: readonly string[] },
): Promise<GitResult> {
  const { PATH = "" } = process.env;
  const gitEnv = {
    PATH,
    ...gitEnvironment({ workspace: folder, configKeys, locks: true, ...(identity ? { identity } : {}) }),
    ...env,
  };
  const options = {
    cwd: folder,
    env: gitEnv,
    timeout: timeoutMs,
    maxBuffer: outputBytesMax,
    ...(signal ? { signal } : {}),
  };
  return new Promise((resolve, reject) => {
    execFile("git", [...args], options, (error, stdout, stderr) => {
      if (error === null) return resolve({ code: 0, stdout, stderr });
      if (typeof error.code === "number") return resolve({ code: error.code, stdout, stderr });
      reject(couldNotRun(error, args));
    });
  });
}

function couldNotRun(error: Error & { code?: unknown }, args: readonly string[]): Error {
  if (error.name === "AbortError") return error;
  const why = error.code === "ENOENT" ? "git is not installed on this machine: install it" : error.message;
  return new RunFailure({ type: "tool_error", message: `git ${args[0]}: ${why}`, recoverable: true }, { cause: error });
}

function failed(args: readonly string[], { stderr }: GitResult): RunFailure {
  const reason = stderr
    .replace(/^(fatal|error): /gm, "")
    .trim()
    .split("\n")
    .slice(0, 3)
    .join("; ")
    .slice(0, 400);
  return new RunFailure({ type: "tool_error", message: `git ${args[0]}: ${reason}`, recoverable: true });
}
