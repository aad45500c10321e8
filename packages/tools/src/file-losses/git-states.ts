import { statSync } from "node:fs";
import { relative } from "node:path";
import type { FileClass } from "../commands/file-effects/file-target.ts";
import { openHostGit } from "../run-workspaces/host-git.ts";

/** Files and folders whose content git does not have, by their path relative to the workspace. */
export type GitStates = ReadonlyMap<string, FileClass>;

/** More paths than this are asked about as one folder. */
const pathsMax = 200;

/**
 * The files below some paths of a workspace that git does not have in their current content. Folders end with `/`: git
 * does not look into them. Null if the workspace is in no repository. Runs no program of the repository: no hook, no
 * filter and no file system monitor. A failure of git rejects.
 */
export async function gitStates(
  workspace: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<GitStates | null> {
  // A repository above the workspace counts, if it belongs to this user.
  const git = await openHostGit({
    folder: workspace,
    signal,
    env: { GIT_CEILING_DIRECTORIES: "", GIT_OPTIONAL_LOCKS: "0" },
  });
  const top = await git.run(["rev-parse", "--show-toplevel"]);
  if (top.code !== 0 || !isOwn(top.stdout.trimEnd())) return null;
  const inside = paths.length > pathsMax || paths.some((path) => path === "") ? ["."] : paths;
  const specs = inside.map((path) => `:(literal)${path}`);
  const format = ["--porcelain=v1", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames"];
  // The index cannot say that a changed file is unchanged.
  const [status, hidden] = await Promise.all([
    git.ask(["status", ...format, "--", ...specs]),
    git.ask(["ls-files", "-v", "-s", "-z", "--", ...specs]),
  ]);
  const prefix = relative(top.stdout.trimEnd(), workspace);
  return new Map([...hiddenIn(hidden), ...changedIn(status, prefix === "" ? "" : `${prefix}/`)]);
}

function isOwn(folder: string): boolean {
  try {
    return process.getuid === undefined || statSync(folder).uid === process.getuid();
  } catch {
    return false;
  }
}

function changedIn(status: string, prefix: string): [string, FileClass][] {
  return status.split("\0").flatMap((line): [string, FileClass][] => {
    const path = line.slice(3);
    if (path === "" || !path.startsWith(prefix)) return [];
    const state = line.slice(0, 2);
    const found = state === "??" ? "untracked" : state === "!!" ? "ignored" : "changed";
    return [[path.slice(prefix.length), found]];
  });
}

/** Files that the index marks as unchanged whatever they contain, and folders that are repositories of their own. */
function hiddenIn(listed: string): [string, FileClass][] {
  return listed.split("\0").flatMap((line): [string, FileClass][] => {
    const [, tag = "", mode = "", path = ""] = /^(\S) (\d+) \S+ \d+\t(.*)$/s.exec(line) ?? [];
    if (mode === "160000") return [[`${path}/`, "untracked"]];
    return /[a-zS]/.test(tag) ? [[path, "changed"]] : [];
  });
}
