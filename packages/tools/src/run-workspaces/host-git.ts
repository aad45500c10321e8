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
  /**
   * Arguments for git, which it answers in the same process: a start of a process is slow in a large one. It must be a
   * command that runs no program of the repository, because its configuration is not known yet. @default none
   */
  question?: readonly string[];
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
  const { question = [] } = options;
  const listed = await runGit(question, { ...options, script: describeRepository, configKeys: [] });
  if (listed.code === notFound)
    throw couldNotRun(Object.assign(new Error("git: not found"), { code: "ENOENT" }), "git");
  const records = listed.stdout.split("\0");
  const end = records.indexOf("");
  const configKeys = records.slice(0, end);
  const answer = { ...listed, stdout: records.slice(end + 1).join("\0") };
  const run: HostGit["run"] = (args, { script, env } = {}) =>
    runGit(args, { ...options, script, env: { ...options.env, ...env }, configKeys });
  return {
    answer,
    filters: filtersOf(configKeys),
    run,
    answered: () => outputOf(answer, labelOf(question, {})),
    ask: async (args, more) => outputOf(await run(args, more), labelOf(args, more)),
  };
}

/** Prints the keys of the configuration, an empty record, and what git answers to the arguments. */
const describeRepository = `
  git config --list --null --name-only || { end=$?; printf '\\0'; exit $end; }
  printf '\\0'
  [ $# = 0 ] || exec git "$@"
`;

/** The exit code of a shell that does not find its program. */
const notFound = 127;

export interface GitStep {
  /** Variables to add to those of the repository. */
  env?: Record<string, string>;
  /**
   * Shell script that runs git; `"$@"` are the arguments. Several commands of git in one script start one process of
   * this one, whose size makes each start slow. @default git with the arguments
   */
  script?: string | undefined;
}

export interface HostGit {
  /** Git's answer to the question of the options. */
  readonly answer: GitResult;
  /** Its output. Throws a `RunFailure` with git's message if git failed. */
  answered(): string;
  /** Names of the repository's filters that have a program. The program does not run. */
  readonly filters: readonly string[];
  run(args: readonly string[], step?: GitStep): Promise<GitResult>;
  /** Resolves to the output. Throws a `RunFailure` with git's message if git fails. */
  ask(args: readonly string[], step?: GitStep): Promise<string>;
}

function runGit(
  args: readonly string[],
  { folder, identity, env, signal, script, configKeys }: HostGitOptions & GitStep & { configKeys: readonly string[] },
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
    const words = script === undefined ? [...args] : ["-c", script, "git", ...args];
    execFile(script === undefined ? "git" : "/bin/sh", words, options, (error, stdout, stderr) => {
      if (error === null) return resolve({ code: 0, stdout, stderr });
      if (typeof error.code === "number") return resolve({ code: error.code, stdout, stderr });
      reject(couldNotRun(error, labelOf(args, { script })));
    });
  });
}

/** The command of git for a message. */
function labelOf(args: readonly string[], step: GitStep | undefined): string {
  return step?.script === undefined ? `git ${args[0]}` : "git";
}

function couldNotRun(error: Error & { code?: unknown }, label: string): Error {
  if (error.name === "AbortError") return error;
  const why = error.code === "ENOENT" ? "git is not installed on this machine: install it" : error.message;
  return new RunFailure({ type: "tool_error", message: `${label}: ${why}`, recoverable: true }, { cause: error });
}

function outputOf(end: GitResult, label: string): string {
  if (end.code === 0) return end.stdout.trimEnd();
  throw failed(label, end);
}

function failed(label: string, { stderr }: GitResult): RunFailure {
  const reason = stderr
    .replace(/^(fatal|error): /gm, "")
    .trim()
    .split("\n")
    .slice(0, 3)
    .join("; ")
    .slice(0, 400);
  return new RunFailure({ type: "tool_error", message: `${label}: ${reason}`, recoverable: true });
}
