import { readdir } from "node:fs/promises";
import type { RunFailure } from "@troupe/core";
import { nearestNames } from "@troupe/core/internal";
import { folderIn, type OpenFolder, openRoot } from "../workspace/open-folder.ts";
import type { ResolvedPath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";

/** How many names of one folder, and how many of the whole workspace, are compared. */
const folderNamesMax = 2_000;
const workspaceNamesMax = 20_000;

const skippedFolders: readonly string[] = [".git", "node_modules"];

/** The failure for a path that does not exist. It suggests similar names and files with the same name. */
export async function missingFile({ shown, folder, missing }: ResolvedPath, workspace: string): Promise<RunFailure> {
  const [first = ""] = missing;
  const last = missing.at(-1) ?? "";
  const names = (await readdir(folder.path).catch(() => [])).sort().slice(0, folderNamesMax);
  const near = nearestNames(first, names).map((name) => pathIn(folder, name));
  const elsewhere = (await findByName(last, workspace)).filter((path) => !near.includes(path));
  const hints = [
    near.length > 0 ? `the nearest names are: ${near.join(", ")}` : null,
    elsewhere.length === 1 ? `there is ${elsewhere[0]}` : null,
  ].filter((hint) => hint !== null);
  const what =
    missing.length > 1 ? `there is no such file (the folder has no ${JSON.stringify(first)})` : "there is no such file";
  return failure("params", [`${shown} cannot be read: ${what}`, ...hints].join("; "));
}

/** Finds files of the workspace with this name. It stops at the second one. */
async function findByName(name: string, workspace: string): Promise<string[]> {
  const paths: string[] = [];
  await using root = await openRoot(workspace);
  for await (const path of filesIn(root, { entriesLeft: workspaceNamesMax })) {
    if (path === name || path.endsWith(`/${name}`)) paths.push(path);
    if (paths.length > 1) break;
  }
  return paths;
}

/** The files below a folder, until the entries are used up. It follows no link. */
async function* filesIn(folder: OpenFolder, limit: { entriesLeft: number }): AsyncGenerator<string> {
  const entries = await readdir(folder.path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    limit.entriesLeft -= 1;
    if (limit.entriesLeft < 0) return;
    if (entry.isFile()) yield pathIn(folder, entry.name);
    if (!entry.isDirectory() || skippedFolders.includes(entry.name)) continue;
    await using inner = await folderIn(folder, entry.name).catch(() => null);
    if (inner) yield* filesIn(inner, limit);
  }
}

function pathIn({ real }: OpenFolder, name: string): string {
  return real === "" ? name : `${real}/${name}`;
}
