import { readdir } from "node:fs/promises";
import type { RunFailure } from "@troupe/core";
import { nearestNames } from "@troupe/core/internal";
import { folderIn, type OpenFolder, openRoot } from "../workspace/open-folder.ts";
import type { ResolvedPath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";

/** How many names of a folder, and how many of the whole workspace, are looked through. */
const namesMax = 2_000;
const allNamesMax = 20_000;

const skipped: readonly string[] = [".git", "node_modules"];

/** What to tell a model of a file that is not there: what it probably meant. */
export async function missingFile({ shown, folder, missing }: ResolvedPath, workspace: string): Promise<RunFailure> {
  const [first = ""] = missing;
  const last = missing.at(-1) ?? "";
  const names = (await readdir(folder.path).catch(() => [])).sort().slice(0, namesMax);
  const near = nearestNames(first, names).map((name) => pathOf(folder, name));
  const elsewhere = (await placesOf(last, workspace)).filter((path) => !near.includes(path));
  const hints = [
    near.length > 0 ? `the nearest names are: ${near.join(", ")}` : null,
    elsewhere.length === 1 ? `there is ${elsewhere[0]}` : null,
  ].filter((hint) => hint !== null);
  const what =
    missing.length > 1 ? `there is no such file (the folder has no ${JSON.stringify(first)})` : "there is no such file";
  return failure("params", [`${shown} cannot be read: ${what}`, ...hints].join("; "));
}

/** Where else in the workspace there is a file of this name, two places at the most. */
async function placesOf(name: string, workspace: string): Promise<string[]> {
  const places: string[] = [];
  await using root = await openRoot(workspace);
  for await (const path of filesIn(root, { left: allNamesMax })) {
    if (path === name || path.endsWith(`/${name}`)) places.push(path);
    if (places.length > 1) break;
  }
  return places;
}

/** The files of a folder and of those in it, as many as are left to be looked at. No link is followed. */
async function* filesIn(folder: OpenFolder, looked: { left: number }): AsyncGenerator<string> {
  const entries = await readdir(folder.path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    looked.left -= 1;
    if (looked.left < 0) return;
    if (entry.isFile()) yield pathOf(folder, entry.name);
    if (!entry.isDirectory() || skipped.includes(entry.name)) continue;
    await using inner = await folderIn(folder, entry.name).catch(() => null);
    if (inner) yield* filesIn(inner, looked);
  }
}

function pathOf({ real }: OpenFolder, name: string): string {
  return real === "" ? name : `${real}/${name}`;
}
