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
  context: Pick<ToolContext, "workspace" | "grant" | "signal">;
  /** Whether there need not be one yet. @default false */
  mayBeNew?: boolean;
}

export interface GitOptions {
  identity?: GitIdentity;
  /** Whether programs of the repository's filters are run. @default false */
  filters?: boolean;
  /** Whether it may speak to other repositories. @default false */
  remotes?: boolean;
  /** Whether it may write where the grant lets it. @default false: nowhere */
  writes?: boolean;
  timeoutMs?: number;
  /** What it reads from standard input. @default nothing */
  input?: string;
  /** What it reads from a shell that is its own: `"$@"` are the arguments. @default git with them */
  script?: string;
}

export interface SandboxedRepository {
  /** Names of its filters that have a program. */
  readonly filters: readonly string[];
  /** Runs git to its end, however it ends. */
  git(args: readonly string[], options?: GitOptions): Promise<CommandResult>;
  /** What git says on its standard output. Throws a `RunFailure` with its own words where it refuses. */
  ask(args: readonly string[], options?: GitOptions): Promise<string>;
}

const defaultTimeoutMs = 60_000;
const captureBytesMax = 16 * 1024 * 1024;
const configKeysMax = 2_000;

/** The keys of all that a repository can say: in its configuration, and of its submodules in a file that it brings. */
const listConfig = `
  git config --list --null --name-only || exit
  if [ -e .gitmodules ]; then set -- --file .gitmodules; else set -- --blob :.gitmodules; fi
  git config "$@" --list --null --name-only 2>/dev/null || :
`;

/**
 * The repository that a workspace is, or has in one of its folders. Its git is run in the sandbox, and in an environment
 * in which nothing that the repository brings is run.
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
  const found = await git(["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"]);
  if (mayBeNew && hasNoRepository(found)) return { filters: [], git, ask };
  refuseOutside(workspace, found, await linkedRepository(workspace));
  configKeys = (await ask([], { script: listConfig })).split("\0").filter((key) => key !== "");
  if (configKeys.length > configKeysMax) throw failure(`the repository has more than ${configKeysMax} settings`);
  return { filters: filtersOf(configKeys), git, ask };
}

const outsideMessage = "the repository of the workspace keeps a part of itself outside of it, so git is not run here";

/** A repository whose files or whose own folder are elsewhere is not the workspace's. */
function refuseOutside(workspace: string, end: CommandResult, linked: LinkedRepository | null): void {
  if (end.reason !== "exited") throw gitFailure(end, defaultTimeoutMs);
  if (end.code === 127) throw failure("git is not installed on this machine: install it, or work without it");
  if (hasNoRepository(end)) {
    throw failure(
      "the workspace is in no git repository: run git with init first if it is to be one, or work without git",
    );
  }
  // In a sandbox that does not show it, git says so of a worktree, and names what it looked for.
  if (/not a git repository: \//.test(end.output)) throw failure(outsideMessage);
  if (end.code !== 0) throw failure(`git cannot read the repository: ${messageIn(end.output)}`);
  const places = end.stdout.trimEnd().split("\n");
  const known: readonly string[] = linked ? [linked.common, linked.own] : [];
  const outside = places.find((place) => {
    if (known.includes(place)) return false;
    const way = relative(workspace, resolve(workspace, place));
    return way.startsWith("..") || isAbsolute(way);
  });
  if (outside !== undefined || places.length !== 3) throw failure(outsideMessage);
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

/** The beginning of what git said, on one line. */
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
