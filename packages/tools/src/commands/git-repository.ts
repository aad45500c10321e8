import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { RunFailure, type ToolContext } from "@troupe/core";
import type { CommandResult, Sandbox } from "../sandbox/sandbox.ts";
import { type LinkedRepository, linkedRepository } from "../workspace/linked-repository.ts";
import { describeEnd, endError } from "./command-result.ts";
import { filtersOf, gitEnvironment } from "./git-environment.ts";
import type { GitIdentity } from "./git-identity.ts";

export interface OpenRepositoryOptions {
  sandbox: Sandbox;
  context: Pick<ToolContext, "session" | "workspace" | "grant" | "signal">;
  /** Whether the repository may be missing. @default false */
  mayBeNew?: boolean;
}

export interface GitOptions {
  identity?: GitIdentity;
  /** Whether programs of the repository's filters may run. @default false */
  filters?: boolean;
  /** Whether git may contact other repositories. @default false */
  remotes?: boolean;
  /** Whether git may write in the grant's write scopes. @default false: read-only */
  writes?: boolean;
  timeoutMs?: number;
  /** Standard input. @default empty */
  input?: string;
  /** Shell script that runs git; `"$@"` are the arguments. @default git with the arguments */
  script?: string;
}

export interface SandboxedRepository {
  /** Names of its filters that have a program. */
  readonly filters: readonly string[];
  /** Runs git and resolves to its result, also if it fails. */
  git(args: readonly string[], options?: GitOptions): Promise<CommandResult>;
  /** Resolves to git's standard output. Throws a `RunFailure` with git's message if git fails. */
  ask(args: readonly string[], options?: GitOptions): Promise<string>;
}

const defaultTimeoutMs = 60_000;
const captureBytesMax = 16 * 1024 * 1024;
const configKeysMax = 2_000;

/**
 * Prints the folders of the repository and, after a NUL, the keys of its configuration and of its `.gitmodules`. One
 * command for both, because the sandbox of a command costs more than git.
 */
const describeRepository = `
  git rev-parse --show-toplevel --absolute-git-dir --git-common-dir || exit
  printf '\\0'
  git config --list --null --name-only || exit
  if [ -e .gitmodules ]; then set -- --file .gitmodules; else set -- --blob :.gitmodules; fi
  git config "$@" --list --null --name-only 2>/dev/null || :
`;

/**
 * Opens the repository of a workspace. Its git runs in the sandbox, in an environment in which no program of the
 * repository runs.
 */
export async function openRepository(options: OpenRepositoryOptions): Promise<SandboxedRepository> {
  const { sandbox, context, mayBeNew = false } = options;
  const { grant, signal } = context;
  const workspace = await realpath(context.workspace).catch(() => {
    throw failure(`the workspace ${context.workspace} does not exist`);
  });
  let configKeys: readonly string[] = [];
  const git: SandboxedRepository["git"] = (args, options = {}) => {
    const { writes = false, timeoutMs = defaultTimeoutMs, script = 'exec git "$@"', input, ...environment } = options;
    return sandbox.run({
      argv: ["/bin/sh", "-c", script, "git", ...args],
      workspace,
      session: context.session,
      writes: writes ? grant.writes : [...grant.writes, []],
      env: gitEnvironment({ ...environment, workspace, configKeys, locks: writes }),
      ...(input === undefined ? {} : { input }),
      timeoutMs,
      signal,
      captureBytesMax,
    });
  };
  const ask: SandboxedRepository["ask"] = async (args, options = {}) => {
    const end = await git(args, options);
    if (end.reason === "exited" && end.code === 0) return end.stdout;
    throw gitFailure(end, options.timeoutMs ?? defaultTimeoutMs);
  };
  const found = await git([], { script: describeRepository });
  if (mayBeNew && hasNoRepository(found)) return { filters: [], git, ask };
  const [folders = "", ...keys] = found.stdout.split("\0");
  refuseOutside(workspace, { end: found, folders, isFound: keys.length > 0 }, await linkedRepository(workspace));
  if (found.code !== 0) throw gitFailure(found, defaultTimeoutMs);
  configKeys = keys.filter((key) => key !== "");
  if (configKeys.length > configKeysMax) throw failure(`the repository has more than ${configKeysMax} settings`);
  return { filters: filtersOf(configKeys), git, ask };
}

const outsideMessage = "the repository of the workspace keeps a part of itself outside of it, so git does not run here";

/** Refuses a repository whose files or `.git` folder lie outside the workspace. */
function refuseOutside(
  workspace: string,
  { end, folders, isFound }: { end: CommandResult; folders: string; isFound: boolean },
  linked: LinkedRepository | null,
): void {
  if (end.reason !== "exited") throw gitFailure(end, defaultTimeoutMs);
  if (end.code === 127) throw failure("git is not installed on this machine: install it, or work without it");
  if (hasNoRepository(end)) {
    throw failure("the workspace is not in a git repository: run git with init first to make one, or work without git");
  }
  // If the sandbox hides a worktree's repository, git reports the missing path like this.
  if (/not a git repository: \//.test(end.output)) throw failure(outsideMessage);
  if (!isFound) throw failure(`git cannot read the repository: ${messageIn(end.output)}`);
  const paths = folders.trimEnd().split("\n");
  const known: readonly string[] = linked ? [linked.common, linked.own] : [];
  const outside = paths.find((folder) => {
    if (known.includes(folder)) return false;
    const way = relative(workspace, resolve(workspace, folder));
    return way.startsWith("..") || isAbsolute(way);
  });
  if (outside !== undefined || paths.length !== 3) throw failure(outsideMessage);
}

function hasNoRepository(end: CommandResult): boolean {
  return end.code === 128 && end.output.includes("not a git repository (");
}

function gitFailure(end: CommandResult, timeoutMs: number): RunFailure {
  const how = describeEnd(end, timeoutMs);
  const error = endError(end, how) ?? { type: "tool_error", message: how, recoverable: true };
  const reason = messageIn(end.output);
  return new RunFailure(end.reason === "exited" && reason ? { ...error, message: `git refused: ${reason}` } : error);
}

/** The beginning of git's message, on one line. */
function messageIn(output: string): string {
  return output
    .replace(/^(fatal|error): /gm, "")
    .trim()
    .split("\n")
    .slice(0, 4)
    .join("; ")
    .slice(0, 600);
}

function failure(message: string): RunFailure {
  return new RunFailure({ type: "tool_error", message, recoverable: false });
}
