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
    question: ["rev-parse", "--show-toplevel"],
  });
  const top = git.answer.stdout.trimEnd();
  if (git.answer.code !== 0 || !isOwn(top)) return null;
  const inside = paths.length > pathsMax || paths.some((path) => path === "") ? ["."] : paths;
  const records = (
    await git.ask(
      inside.map((path) => `:(literal)${path}`),
      { script: describeFiles },
    )
  ).split("\0");
  const end = records.indexOf("");
  const prefix = relative(top, workspace);
  return new Map([
    ...hiddenIn(records.slice(end + 1)),
    ...changedIn(records.slice(0, end), prefix === "" ? "" : `${prefix}/`),
  ]);
}

/** Prints the status of paths, an empty record, and their entries in the index: it cannot hide that a file is changed. */
const describeFiles = `
  git status --porcelain=v1 -z --untracked-files=all --ignored=matching --no-renames -- "$@" || exit
  printf '\\0'
  exec git ls-files -v -s -z -- "$@"
`;

function isOwn(folder: string): boolean {
  try {
    return process.getuid === undefined || statSync(folder).uid === process.getuid();
  } catch {
    return false;
  }
}

function changedIn(lines: readonly string[], prefix: string): [string, FileClass][] {
  return lines.flatMap((line): [string, FileClass][] => {
    const path = line.slice(3);
    if (path === "" || !path.startsWith(prefix)) return [];
    const state = line.slice(0, 2);
    const found = state === "??" ? "untracked" : state === "!!" ? "ignored" : "changed";
    return [[path.slice(prefix.length), found]];
  });
}

/** Files that the index marks as unchanged whatever they contain, and folders that are repositories of their own. */
function hiddenIn(lines: readonly string[]): [string, FileClass][] {
  return lines.flatMap((line): [string, FileClass][] => {
    const [, tag = "", mode = "", path = ""] = /^(\S) (\d+) \S+ \d+\t(.*)$/s.exec(line) ?? [];
    if (mode === "160000") return [[`${path}/`, "untracked"]];
    return /[a-zS]/.test(tag) ? [[path, "changed"]] : [];
  });
}
