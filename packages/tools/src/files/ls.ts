import { lstat, readlink } from "node:fs/promises";
import { errorCodeOf } from "@troupe/core/internal";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import { folderIn, namesIn, type OpenFolder } from "../workspace/open-folder.ts";
import { resolvePath } from "../workspace/resolve-path.ts";
import { failure, fileFailure } from "../workspace/workspace-path.ts";
import { pathField } from "./file-tool-deps.ts";
import { missingFile } from "./missing-file.ts";

/** Lists a folder of the workspace. */
export function createLsTool(): Tool {
  return defineTool({
    name: "ls",
    description:
      "Lists a folder with file sizes, hidden and ignored names too. With depth also subfolders, except the content " +
      "of .git and node_modules.",
    input: z.strictObject({
      path: pathField.default("."),
      depth: z.int().min(1).max(6).default(1).describe("Levels of folders"),
    }),
    risk: "low",
    effect: "read",
    groups: ["filesystem"],
    async run({ path, depth }, { workspace }) {
      await using resolved = await resolvePath(workspace, path);
      const { found, shown } = resolved;
      if (found.kind === "missing") throw await missingFile(resolved, workspace);
      if (found.kind === "folder") return { output: await listFolder(found.folder, { depth, shown }) };
      const what = found.kind === "file" ? `a file of ${found.file.stats.size} bytes` : found.what;
      throw failure("params", `${shown} is not a folder: it is ${what}`);
    },
  });
}

export interface ListOptions {
  /** Levels of folders to list. 1 lists the folder only. */
  depth: number;
  /** The path as the model sees it. */
  shown: string;
}

const entriesMax = 1_000;
const entriesPerFolderMax = 300;

/** Folders whose content is listed only when the path names them. */
const unlistedFolders: readonly string[] = [".git", "node_modules"];

/**
 * Lists a folder, sorted, with sizes, including hidden and ignored names. It follows no link. Where a folder has too many
 * entries, the rest is counted.
 */
export async function listFolder(folder: OpenFolder, { depth, shown }: ListOptions): Promise<string> {
  const listing: Listing = { lines: [], entriesLeft: entriesMax, depth };
  try {
    const count = await addFolder(listing, folder, 1);
    const head = `${shown === "." ? "." : shown}/ (${count === 1 ? "1 entry" : `${count} entries`})`;
    return [head, ...listing.lines].join("\n");
  } catch (error) {
    throw fileFailure(error, shown);
  }
}

interface Listing {
  lines: string[];
  entriesLeft: number;
  depth: number;
}

/** Adds the entries of a folder. Returns how many the folder has. */
async function addFolder(listing: Listing, folder: OpenFolder, level: number): Promise<number> {
  const names = await namesIn(folder);
  const indent = "  ".repeat(level);
  let listed = 0;
  for (const name of names.slice(0, entriesPerFolderMax)) {
    if (listing.entriesLeft === 0) break;
    listing.entriesLeft -= 1;
    listed += 1;
    await addEntry(listing, { folder, name, level, indent });
  }
  if (listed < names.length) listing.lines.push(`${indent}[… and ${names.length - listed} more here]`);
  return names.length;
}

interface FolderEntry {
  folder: OpenFolder;
  name: string;
  level: number;
  indent: string;
}

/** Skips an entry that disappears meanwhile. An entry that cannot be read shows its error code. */
async function addEntry(listing: Listing, { folder, name, level, indent }: FolderEntry): Promise<void> {
  const quoted = /[\n\r]/.test(name) ? JSON.stringify(name) : name;
  try {
    const stats = await lstat(folder.at(name));
    if (stats.isSymbolicLink()) {
      listing.lines.push(`${indent}${quoted} -> ${await readlink(folder.at(name))}`);
    } else if (stats.isFile()) {
      listing.lines.push(`${indent}${quoted}  ${stats.size === 1 ? "1 byte" : `${stats.size} bytes`}`);
    } else if (!stats.isDirectory()) {
      listing.lines.push(`${indent}${quoted}  (not a regular file)`);
    } else {
      listing.lines.push(`${indent}${quoted}/`);
      if (level >= listing.depth || unlistedFolders.includes(name)) return;
      await using inner = await folderIn(folder, name);
      if (inner) await addFolder(listing, inner, level + 1);
    }
  } catch (error) {
    if (errorCodeOf(error) !== "ENOENT") listing.lines.push(`${indent}${quoted}  (${errorCodeOf(error)})`);
  }
}
