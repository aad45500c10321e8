import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { sha256 } from "./agent-folder.ts";
import type { AcceptedFiles } from "./replacements.ts";

/** A user who has accepted every file of the project. */
export const acceptAll: AcceptedFiles = async (project) => {
  const entries = await readdir(project, { recursive: true, withFileTypes: true });
  const paths = entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
  const hashes = paths.map(async (path) => [relative(project, path), sha256(await readFile(path))] as const);
  return new Map(await Promise.all(hashes));
};
