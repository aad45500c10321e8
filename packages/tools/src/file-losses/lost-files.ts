import { createHash } from "node:crypto";
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { FileClass } from "../commands/file-effects/file-target.ts";
import { globMatcher } from "../search/glob-pattern.ts";
import type { AffectedPath } from "./affected-paths.ts";
import type { GitStates } from "./git-states.ts";
import { isRegenerable } from "./regenerable-folders.ts";

/** An existing file whose content would be gone. */
export interface LostFile {
  /** Relative to the workspace; absolute if it is outside. */
  path: string;
  stats: BigIntStats;
}

/** More entries than this are not looked at: the question says so. */
const entriesMax = 20_000;

/**
 * The files behind affected paths that git does not have.
 *
 * @param states the files that git does not have; null without a repository: git has nothing
 */
export function lostFiles(
  affected: readonly AffectedPath[],
  states: GitStates | null,
  workspace: string,
): { files: LostFile[]; isCut: boolean } {
  const found = new Map<string, LostFile>();
  const walk = { left: entriesMax };
  const add = (path: string, affectedPath: AffectedPath): void => {
    if (found.has(path) || !hasName(path, affectedPath)) return;
    const stats = statsOf(place(workspace, path));
    if (stats !== null && !stats.isDirectory()) found.set(path, { path, stats });
  };
  for (const each of affected) {
    if (each.path.startsWith("/")) addOutside(each.path, found);
    else {
      for (const path of candidates(each, states, workspace, walk)) add(path, each);
    }
  }
  const files = [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { files, isCut: walk.left <= 0 };
}

/** A hash of the files and of their states: another file, or another content, gives another hash. */
export function lossDigest(files: readonly LostFile[], others: readonly string[]): string {
  const hash = createHash("sha256");
  for (const { path, stats } of files) hash.update(`${path}\0${stampOf(stats)}\0`);
  for (const other of others) hash.update(`${other}\0\0`);
  return hash.digest("hex");
}

/** Changes with the content of a file. */
export function stampOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

/** A folder outside is one entry: its content is not looked at. */
function addOutside(path: string, found: Map<string, LostFile>): void {
  const stats = statsOf(path);
  if (stats !== null) found.set(path, { path, stats });
}

/** Paths of files below an affected path that git does not have. */
function* candidates(
  affected: AffectedPath,
  states: GitStates | null,
  workspace: string,
  walk: { left: number },
): Generator<string> {
  const { path, classes, isNamed } = affected;
  const isRepository = path === ".git" || path.startsWith(".git/");
  // No commit has the repository itself.
  if (isNamed && (isRepository || path === "")) {
    yield* walkFiles(workspace, isRepository ? path : ".git", walk, () => false);
  }
  if (isRepository) return;
  if (states !== null) {
    for (const [listed, state] of states) yield* listedFiles(affected, listed, state, workspace, walk);
  } else if (classes === null) yield* walkFiles(workspace, path, walk, (name) => name === ".git");
}

/** The files of one line of git's list that are below an affected path. A folder can also be around it. */
function* listedFiles(
  { path, classes }: AffectedPath,
  listed: string,
  state: FileClass,
  workspace: string,
  walk: { left: number },
): Generator<string> {
  const isFolder = listed.endsWith("/");
  const own = isFolder ? listed.slice(0, -1) : listed;
  const isBelow = path === "" || own === path || own.startsWith(`${path}/`);
  const isAround = isFolder && path.startsWith(`${own}/`);
  if ((!isBelow && !isAround) || (classes !== null && !classes.includes(state))) return;
  const start = isBelow ? own : path;
  const isSkipped = isSkippedIn(state);
  if (isSkipped(start)) return;
  if (isFolder) yield* walkFiles(workspace, start, walk, (name) => name === ".git", isSkipped);
  else yield own;
}

const isSkippedIn =
  (state: FileClass) =>
  (path: string): boolean =>
    state === "ignored" && isRegenerable(path);

/** All files at or below a path. Links are not followed. */
function* walkFiles(
  workspace: string,
  path: string,
  walk: { left: number },
  skipsName: (name: string) => boolean,
  skipsPath: (path: string) => boolean = () => false,
): Generator<string> {
  const open = [path];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    walk.left -= 1;
    if (walk.left <= 0) return;
    const stats = statsOf(place(workspace, next));
    if (stats === null || skipsPath(next)) continue;
    if (!stats.isDirectory()) {
      yield next;
      continue;
    }
    for (const name of namesIn(place(workspace, next)))
      if (!skipsName(name)) open.push(next === "" ? name : `${next}/${name}`);
  }
}

function hasName(path: string, { path: root, names }: AffectedPath): boolean {
  if (names === null) return true;
  const below = root === "" ? path : path.slice(root.length + 1);
  const segments = (below === "" ? path : below).split("/");
  return names.some((name) => {
    const matches = matcherOf(name);
    return segments.some((segment) => matches(segment));
  });
}

function matcherOf(name: string): (text: string) => boolean {
  try {
    return globMatcher(name.replace(/[{}]/g, "\\$&"));
  } catch {
    return () => true;
  }
}

function place(workspace: string, path: string): string {
  return path.startsWith("/") ? path : join(workspace, path);
}

function statsOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
