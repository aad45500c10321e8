import { lstatSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ToolContext } from "@troupe/core";
import type { FileLosses } from "@troupe/core/internal";
import type { CommandText } from "@troupe/core/tool";
import type { LineEffects } from "../commands/file-effects/file-target.ts";
import { commandEffects } from "../commands/file-effects/line-effects.ts";
import { openHostGit } from "../run-workspaces/host-git.ts";
import { type AffectedPaths, affectedPaths } from "./affected-paths.ts";
import type { CreatedFiles } from "./created-files.ts";
import { gitStates } from "./git-states.ts";
import { type LostFile, lossDigest, lostFiles } from "./lost-files.ts";

/** The effects of a call on files, as found before it runs. */
export interface CommandReview {
  /** Null: it loses nothing. */
  losses: FileLosses | null;
  /** Files that belong to the session after the call: it makes them, and they do not exist yet or were the session's before. */
  ownAfter: readonly string[];
}

/** The question lists this many files. */
const listedMax = 20;
const gitTimeoutMs = 60_000;

export interface LossOptions {
  context: ToolContext;
  created: CreatedFiles;
  /** Whether a sandbox keeps commands inside of the workspace. */
  contained: boolean;
  /** Answers for git. Tests of many commands in one repository ask git once. @default asks git each time */
  states?: typeof gitStates;
}

/**
 * Finds the files that a command would delete or overwrite, and that are neither in git nor made by the session. An unknown
 * file counts as lost.
 */
export async function reviewCommand(text: CommandText, options: LossOptions): Promise<CommandReview> {
  const workspace = realOrNull(options.context.workspace);
  if (workspace === null || worksInOwnCopy(options.context, workspace)) return nothing;
  const folder = join(workspace, text.folder ?? ".");
  const effects = commandEffects(text, { folder, isFolder });
  const paths = affectedPaths(effects.targets, { workspace, outside: !options.contained });
  if (paths.affected.length === 0 && paths.written.length === 0 && effects.gitObjects.length === 0) return nothing;
  return await findLosses(effects, paths, workspace, options);
}

const nothing: CommandReview = { losses: null, ownAfter: [] };

async function findLosses(
  { gitObjects }: LineEffects,
  { affected, written }: AffectedPaths,
  workspace: string,
  { context, created, states: askGit = gitStates }: LossOptions,
): Promise<CommandReview> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(gitTimeoutMs)]);
  const inside = affected.map(({ path }) => path).filter((path) => !path.startsWith("/"));
  const states = inside.length === 0 ? null : await statesOrUnknown(askGit, workspace, inside, signal);
  const { files, isCut } = lostFiles(affected, states, workspace);
  const others = await created.others(files, workspace, context);
  const foreign = new Set(others.map(({ path }) => path));
  const own = files.filter(({ path }) => !foreign.has(path)).map(({ path }) => path);
  const objects = await lostObjects(gitObjects, workspace, signal);
  const existing = new Set(affected.map(({ path }) => path));
  const made = written.filter((path) => !existing.has(path) && !foreign.has(path) && !isPresent(join(workspace, path)));
  return { losses: lossesOf(others, objects, isCut), ownAfter: [...made, ...own] };
}

/** If git fails, it has nothing. */
async function statesOrUnknown(
  askGit: typeof gitStates,
  workspace: string,
  paths: readonly string[],
  signal: AbortSignal,
) {
  try {
    return await askGit(workspace, paths, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}

function lossesOf(files: readonly LostFile[], objects: readonly string[], isCut: boolean): FileLosses | null {
  if (files.length === 0 && objects.length === 0 && !isCut) return null;
  const listed = [
    ...objects.map((path) => ({ path, bytes: 0 })),
    ...files.map(({ path, stats }) => ({ path, bytes: Number(stats.size) })),
  ];
  return {
    files: listed.slice(0, listedMax),
    count: listed.length,
    bytes: listed.reduce((sum, { bytes }) => sum + bytes, 0),
    ...(isCut ? { more: true } : {}),
    digest: lossDigest(files, objects),
  };
}

/** Branches with commits that no other reference has, and entries of the stash. */
async function lostObjects(
  objects: LineEffects["gitObjects"],
  workspace: string,
  signal: AbortSignal,
): Promise<string[]> {
  if (objects.length === 0) return [];
  const git = await openHostGit({ folder: workspace, signal, env: { GIT_CEILING_DIRECTORIES: "" } });
  const found: string[] = [];
  for (const object of objects) {
    if (object.kind === "stash") {
      const { stdout } = await git.run(["stash", "list", "--format=%gd: %gs (%h)"]);
      found.push(...stdout.split("\n").filter(Boolean));
      continue;
    }
    const reference = `refs/heads/${object.name}`;
    const others = ["--not", `--exclude=${object.name}`, "--branches", "--tags", "--remotes"];
    const { code, stdout } = await git.run(["rev-list", "--max-count=1", reference, ...others]);
    if (code === 0 && stdout.trim() !== "") found.push(`branch ${object.name} (${stdout.trim().slice(0, 12)})`);
  }
  return found;
}

/** An isolated run and one with its own worktree change a copy: the user's files are not in it. */
function worksInOwnCopy({ project }: ToolContext, workspace: string): boolean {
  if (project === undefined) return false;
  return project === null || (realOrNull(project) ?? project) !== workspace;
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isPresent(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
