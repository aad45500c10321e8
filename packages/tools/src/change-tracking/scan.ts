import { partsOfLine } from "./scan-text.ts";
import { partsOf, type Stamp } from "./stamp.ts";

/**
 * All entries of a workspace that are not folders, by folder. The path of a folder ends with `/`, and that of the
 * workspace itself is empty. A path has one character for each byte of its name (Latin-1).
 *
 * A later scan shares the unchanged folders with the scan before it.
 */
export type Scan = ReadonlyMap<string, ScannedFolder>;

export interface ScannedFolder {
  /** Device and inode number. */
  identity: string;
  /**
   * The entries: a stamp, a space, and a path that begins with `./`, each ended by a NUL byte. They stay bytes, because
   * most folders of two scans are equal and never have to be parsed.
   */
  entries: Buffer;
}

/** An entry that differs between two scans. */
export interface ScanDifference {
  path: string;
  /** Null if there was no entry. */
  before: Stamp | null;
  after: Stamp | null;
}

/** Compares two scans. It parses only folders that differ. */
export function compareScans(before: Scan, after: Scan): ScanDifference[] {
  if (before === after) return [];
  const differences: ScanDifference[] = [];
  for (const [path, folder] of after) {
    const old = before.get(path)?.entries;
    if (old === undefined || !old.equals(folder.entries)) differences.push(...compareEntries(old, folder.entries));
  }
  for (const [path, { entries }] of before)
    if (!after.has(path)) differences.push(...compareEntries(entries, undefined));
  return differences;
}

/** Whether two folders have the same entries, in any order. */
export function hasSameEntries(before: ScannedFolder, after: ScannedFolder): boolean {
  return before.entries.equals(after.entries) || compareEntries(before.entries, after.entries).length === 0;
}

function compareEntries(before: Buffer | undefined, after: Buffer | undefined): ScanDifference[] {
  const old = before ? stampsIn(before) : noStamps;
  const now = after ? stampsIn(after) : noStamps;
  const differences: ScanDifference[] = [];
  for (const [path, stamp] of now) {
    const same = old.get(path);
    if (same !== stamp) differences.push({ path, before: same ?? null, after: stamp });
  }
  for (const [path, stamp] of old) if (!now.has(path)) differences.push({ path, before: stamp, after: null });
  return differences;
}

const noStamps: ReadonlyMap<string, Stamp> = new Map();

/** The stamps of entries by path, without the files that the sandbox and the file tools make for a moment. */
function stampsIn(entries: Buffer): Map<string, Stamp> {
  const stamps = new Map<string, Stamp>();
  for (const line of entries.toString("latin1").split("\0")) {
    if (line === "") continue;
    const { stamp, path } = partsOfLine(line);
    if (!temporaryName.test(path) && !isPlaceholderStamp(stamp)) stamps.set(path, stamp);
  }
  return stamps;
}

/** Temporary files and locks of troupe's own writes. */
const temporaryName = /(^|\/)\.troupe-[0-9a-f-]+\.(tmp|lock)$/;

/** An empty file from 1971: the sandbox makes such files where it has to mount something, and removes them. */
function isPlaceholderStamp(stamp: Stamp): boolean {
  const { type, size, modified } = partsOf(stamp);
  return type === "f" && size === 0 && modified > placeholdersFromS && modified < placeholdersUntilS;
}

const placeholdersFromS = Date.UTC(1971, 0, 1) / 1000;
const placeholdersUntilS = Date.UTC(1971, 1, 19) / 1000;

/**
 * The differences outside of some folders, which are relative to the workspace. Troupe's own home can lie in a workspace:
 * its keys and journals are neither listed nor copied.
 */
export function outsideOf(folders: readonly string[], differences: ScanDifference[]): ScanDifference[] {
  const prefixes = folders.map((folder) => `${scanPath(folder)}/`);
  if (prefixes.length === 0) return differences;
  return differences.filter(({ path }) => !prefixes.some((prefix) => path.startsWith(prefix)));
}

/** Whether a name can be used as it is: a name that is not UTF-8 cannot be opened through a text. */
export function isUtf8(path: string): boolean {
  return Buffer.from(path, "latin1").toString("utf8").includes("\ufffd") === false;
}

/** The path of an entry as people and models read it; a byte that is not UTF-8 is shown as `\xff`. */
export function shownPath(path: string): string {
  if (isUtf8(path)) return Buffer.from(path, "latin1").toString("utf8");
  return path.replace(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** The path of an entry in a scan, for a path as a file tool names it. */
export function scanPath(path: string): string {
  return Buffer.from(path, "utf8").toString("latin1");
}
