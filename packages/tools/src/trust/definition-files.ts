import { createHash } from "node:crypto";
import { constants, lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ProjectFile } from "./project-files.ts";

const definitionFolders = [
  { path: ".claude/agents", kind: "agents", isDefinition: /\.md$/i },
  { path: ".troupe/agents", kind: "agents", isDefinition: /\.md$/i },
  { path: ".troupe/teams", kind: "teams", isDefinition: /(\.md|^team\.yaml)$/i },
] as const;

const filesMax = 2_000;
const entriesMax = 10_000;
const depthMax = 8;
const fileBytesMax = 256 * 1024;

interface Walk {
  root: string;
  found: ProjectFile[];
  entriesLeft: number;
}

/**
 * Reads the agent and team files of a folder, ordered by their paths. A file that cannot be read safely is left out: links,
 * devices, large files and files beyond the caps then never replace another definition.
 */
export async function readDefinitionFiles(root: string): Promise<ProjectFile[]> {
  const walk: Walk = { root, found: [], entriesLeft: entriesMax };
  for (const { path, kind, isDefinition } of definitionFolders) {
    if (await isPlainFolder(root, path)) await readFolder(path, { kind, isDefinition }, walk, 0);
  }
  return walk.found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A linked folder could lead elsewhere at the next read. */
async function isPlainFolder(root: string, path: string): Promise<boolean> {
  const segments = path.split("/");
  for (const i of segments.keys()) {
    const stats = await lstat(join(root, ...segments.slice(0, i + 1))).catch(() => null);
    if (!stats?.isDirectory()) return false;
  }
  return true;
}

type Definition = Pick<ProjectFile, "kind"> & { isDefinition: RegExp };

async function readFolder(path: string, definition: Definition, walk: Walk, depth: number): Promise<void> {
  const entries = await readdir(join(walk.root, path), { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    walk.entriesLeft -= 1;
    if (walk.entriesLeft < 0 || walk.found.length >= filesMax) return;
    const child = `${path}/${entry.name}`;
    if (entry.isDirectory() && depth < depthMax) await readFolder(child, definition, walk, depth + 1);
    else if (entry.isFile() && definition.isDefinition.test(entry.name)) {
      const bytes = await readPlainFile(join(walk.root, child));
      if (bytes) {
        const hash = createHash("sha256").update(bytes).digest("hex");
        walk.found.push({ path: child, kind: definition.kind, used: false, hash, bytes });
      }
    }
  }
}

/** Null for a file that is not regular, is too large or cannot be read. */
async function readPlainFile(path: string): Promise<Buffer | null> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  try {
    await using file = await open(path, flags);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > fileBytesMax) return null;
    const bytes = await file.readFile();
    return bytes.byteLength > fileBytesMax ? null : bytes;
  } catch {
    return null;
  }
}
