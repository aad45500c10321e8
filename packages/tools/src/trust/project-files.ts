import { createHash } from "node:crypto";
import { constants, lstat, open, opendir, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { TroupeError } from "@troupe/core";
import { canonicalJson, errorCodeOf } from "@troupe/core/internal";
import { isNeverWritten } from "../workspace/protected-paths.ts";
import { readDefinitionFiles } from "./definition-files.ts";

/** The purpose of a project file. */
export const projectKinds = [
  ...(["configuration", "tools", "hooks", "commands", "settings", "mcp", "agents", "teams"] as const),
] as const;
export type ProjectKind = (typeof projectKinds)[number];

/** A file of a project, with the bytes that were hashed: exactly these bytes are used. */
export interface ProjectFile {
  /** Relative to the folder, with `/`. */
  path: string;
  kind: ProjectKind;
  /** Whether troupe uses it. */
  used: boolean;
  hash: string;
  bytes: Buffer;
}

export interface ProjectFiles {
  /** Real path, which identifies the folder. */
  folder: string;
  /** Ordered by their paths. */
  files: readonly ProjectFile[];
  /**
   * Agent and team files. They count without trust, and `hash` does not cover them. With trust they may also
   * replace a shipped or a user's definition.
   */
  definitions: readonly ProjectFile[];
  /** Hash over all paths and contents. */
  hash: string;
}

interface ProjectLocation {
  path: string;
  kind: ProjectKind;
  used: boolean;
  /** `tree`: all files below it. A pattern: the files of the folder with a matching name. */
  what: "file" | "tree" | RegExp;
}

const projectLocations: readonly ProjectLocation[] = [
  { path: ".troupe/config.yaml", kind: "configuration", used: true, what: "file" },
  { path: ".troupe/tools", kind: "tools", used: true, what: "tree" },
  { path: ".troupe/hooks", kind: "hooks", used: false, what: "tree" },
  { path: ".troupe/commands", kind: "commands", used: false, what: "tree" },
  { path: ".claude", kind: "settings", used: false, what: /^settings.*\.json$/i },
  { path: ".claude/commands", kind: "commands", used: false, what: "tree" },
  { path: ".claude/hooks", kind: "hooks", used: false, what: "tree" },
  { path: ".mcp.json", kind: "mcp", used: false, what: "file" },
];

/** Limits of project files: a user cannot review more than this. */
export const projectCaps = { files: 1_000, bytes: 16 * 1024 * 1024, depth: 12, entries: 5_000 } as const;

interface ReadState {
  folder: string;
  /** Paths that were found to be missing. */
  missing: Set<string>;
  files: ProjectFile[];
  bytes: number;
  entries: number;
}

/**
 * Reads all project files of a folder once. Throws `INVALID_CONFIG` for files that cannot be hashed reliably: links
 * that lead elsewhere, devices, too large trees, unreadable files.
 *
 * @example
 * const { files, hash } = await readProjectFiles(process.cwd());

 */
export async function readProjectFiles(folder: string): Promise<ProjectFiles> {
  const reading: ReadState = {
    folder: await realpath(folder),
    missing: new Set(),
    files: [],
    bytes: 0,
    entries: 0,
  };
  for (const location of projectLocations) await readLocation(location, reading);
  const files = reading.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const hash = sha256(canonicalJson(files.map(({ path, kind, hash: content }) => [path, kind, content])));
  return { folder: reading.folder, files, definitions: await readDefinitionFiles(reading.folder), hash };
}

async function readLocation(location: ProjectLocation, reading: ReadState): Promise<void> {
  const { path, what } = location;
  if (!(await exists(path, reading))) return;
  if (what === "file") await readEntry(path, location, reading, 0);
  else if (what === "tree") await readTree(path, location, reading, 0);
  else {
    for (const name of await namesIn(path, reading)) {
      if (what.test(name)) await readEntry(`${path}/${name}`, location, reading, 0);
    }
  }
}

/** Whether a path exists. Throws for a linked folder on the way, because its target could change between reads. */
async function exists(path: string, { folder, missing }: ReadState): Promise<boolean> {
  const segments = path.split("/");
  for (const i of segments.keys()) {
    const here = segments.slice(0, i + 1).join("/");
    if (missing.has(here)) return false;
    const stats = await lstat(join(folder, here)).catch((error: unknown) => absentOrThrow(error, here));
    if (stats === null) {
      missing.add(here);
      return false;
    }
    if (stats.isSymbolicLink() && i < segments.length - 1) throw linkedFolder(here);
  }
  return true;
}

async function readTree(path: string, location: ProjectLocation, reading: ReadState, depth: number): Promise<void> {
  const stats = await lstat(join(reading.folder, path));
  if (stats.isSymbolicLink()) throw linkedFolder(path);
  if (!stats.isDirectory()) return readEntry(path, location, reading, depth);
  for (const name of await namesIn(path, reading)) await readEntry(`${path}/${name}`, location, reading, depth);
}

async function readEntry(path: string, location: ProjectLocation, reading: ReadState, depth: number): Promise<void> {
  const absolute = join(reading.folder, path);
  const stats = await lstat(absolute).catch((error: unknown) => absentOrThrow(error, path));
  if (stats === null) return;
  if (stats.isDirectory()) {
    if (location.what !== "tree") throw cannotTrust(path, "it is a folder", "remove it");
    if (depth >= projectCaps.depth) throw tooLarge(path, `it is more than ${projectCaps.depth} folders deep`);
    return readTree(path, location, reading, depth + 1);
  }
  const real = stats.isSymbolicLink() ? await linkTarget(path, reading.folder) : absolute;
  if (reading.files.length >= projectCaps.files) throw tooLarge(path, `there are more than ${projectCaps.files} files`);
  const bytes = await readRegularFile(real, path, projectCaps.bytes - reading.bytes);
  reading.bytes += bytes.byteLength;
  reading.files.push({ path, kind: location.kind, used: location.used, hash: sha256(bytes), bytes });
}

async function namesIn(path: string, reading: ReadState): Promise<string[]> {
  const names: string[] = [];
  const { folder } = reading;
  if (!(await lstat(join(folder, path))).isDirectory()) return names;
  for await (const { name } of await opendir(join(folder, path)).catch((error: unknown) => unreadable(error, path))) {
    reading.entries += 1;
    if (reading.entries > projectCaps.entries) throw tooLarge(path, `there are more than ${projectCaps.entries} names`);
    names.push(name);
  }
  return names.sort();
}

/** A link to a file is accepted if no agent can write its target. */
async function linkTarget(path: string, folder: string): Promise<string> {
  const fix = "put the file itself in its place";
  const real = await realpath(join(folder, path)).catch(() => {
    throw cannotTrust(path, "it is a link that leads nowhere", fix);
  });
  const way = relative(folder, real).split(sep).join("/");
  if (way === ".." || way.startsWith("../") || way.startsWith("/")) {
    throw cannotTrust(path, "it is a link that leads out of the folder", fix);
  }
  if (!isNeverWritten(way)) throw cannotTrust(path, `it is a link to ${way}, which agents may write`, fix);
  return real;
}

/** Does not follow a link that was created since, and does not block on a pipe. */
async function readRegularFile(absolute: string, path: string, bytesMax: number): Promise<Buffer> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using file = await open(absolute, flags).catch((error: unknown) => unreadable(error, path));
  const stats = await file.stat();
  if (!stats.isFile()) throw cannotTrust(path, "it is not a regular file", "remove it");
  const buffer = Buffer.alloc(Math.min(stats.size, bytesMax) + 1);
  let length = 0;
  while (length < buffer.byteLength) {
    const { bytesRead } = await file.read(buffer, length, buffer.byteLength - length, length);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
  if (length > bytesMax) throw tooLarge(path, `there are more than ${projectCaps.bytes} bytes`);
  throw cannotTrust(path, "it grew while it was read", "try again");
}

function absentOrThrow(error: unknown, path: string): null {
  const code = errorCodeOf(error);
  if (code === "ENOENT" || code === "ENOTDIR") return null;
  return unreadable(error, path);
}

function unreadable(error: unknown, path: string): never {
  throw cannotTrust(
    path,
    `it cannot be read (${errorCodeOf(error) ?? String(error)})`,
    "make it readable, or remove it",
  );
}

function linkedFolder(path: string): TroupeError {
  return cannotTrust(path, "it is a link to a folder", "put the folder itself in its place");
}

function tooLarge(path: string, why: string): TroupeError {
  return cannotTrust(path, why, "keep only the needed files there");
}

function cannotTrust(path: string, why: string, fix: string): TroupeError {
  return new TroupeError("INVALID_CONFIG", `${JSON.stringify(path)} cannot be trusted: ${why}`, { fix });
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
