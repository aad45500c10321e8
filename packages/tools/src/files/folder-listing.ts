import { lstat, readlink } from "node:fs/promises";
import { errorCodeOf } from "@troupe/core/internal";
import { folderIn, namesIn, type OpenFolder } from "../workspace/open-folder.ts";
import { fileFailure } from "../workspace/workspace-path.ts";

export interface TreeAsked {
  /** How many folders deep; 1 is the folder alone. */
  depth: number;
  shown: string;
}

const entriesMax = 1_000;
const entriesOfFolderMax = 300;

/** Listed, and not looked into unless they are asked for themselves: what is in them is others' work. */
const closedNames: readonly string[] = [".git", "node_modules"];

/**
 * What a folder has in it, sorted, with sizes: hidden and ignored names too. No link is followed, and what there is too
 * much of is counted.
 */
export async function listTree(folder: OpenFolder, { depth, shown }: TreeAsked): Promise<string> {
  const tree: Tree = { lines: [], left: entriesMax, depth };
  try {
    const count = await listInto(tree, folder, 1);
    return [`${shown === "." ? "." : shown}/ (${count === 1 ? "1 entry" : `${count} entries`})`, ...tree.lines].join(
      "\n",
    );
  } catch (error) {
    throw fileFailure(error, shown);
  }
}

interface Tree {
  lines: string[];
  left: number;
  depth: number;
}

async function listInto(tree: Tree, folder: OpenFolder, level: number): Promise<number> {
  const names = await namesIn(folder);
  const indent = "  ".repeat(level);
  let listed = 0;
  for (const name of names.slice(0, entriesOfFolderMax)) {
    if (tree.left === 0) break;
    tree.left -= 1;
    listed += 1;
    await listName(tree, { folder, name, level, indent });
  }
  if (listed < names.length) tree.lines.push(`${indent}[… and ${names.length - listed} more here]`);
  return names.length;
}

interface Name {
  folder: OpenFolder;
  name: string;
  level: number;
  indent: string;
}

/** Whatever vanishes while it is listed is left out, and what may not be looked into says so. */
async function listName(tree: Tree, { folder, name, level, indent }: Name): Promise<void> {
  const quoted = /[\n\r]/.test(name) ? JSON.stringify(name) : name;
  try {
    const stats = await lstat(folder.at(name));
    if (stats.isSymbolicLink()) {
      tree.lines.push(`${indent}${quoted} -> ${await readlink(folder.at(name))}`);
    } else if (stats.isFile()) {
      tree.lines.push(`${indent}${quoted}  ${sizeOf(stats.size)}`);
    } else if (!stats.isDirectory()) {
      tree.lines.push(`${indent}${quoted}  (not a regular file)`);
    } else {
      tree.lines.push(`${indent}${quoted}/`);
      if (level < tree.depth && !closedNames.includes(name)) await openInto(tree, { folder, name, level, indent });
    }
  } catch (error) {
    if (errorCodeOf(error) !== "ENOENT") tree.lines.push(`${indent}${quoted}  (${errorCodeOf(error)})`);
  }
}

async function openInto(tree: Tree, { folder, name, level }: Name): Promise<void> {
  await using inner = await folderIn(folder, name);
  if (inner) await listInto(tree, inner, level + 1);
}

function sizeOf(bytes: number): string {
  return bytes === 1 ? "1 byte" : `${bytes} bytes`;
}
