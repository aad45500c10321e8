/**
 * All names of a workspace with their stamps, as `find` prints them: a stamp, a space, and a path that begins with `./`,
 * each entry ended by a NUL byte. Scans stay bytes, because most of two scans is equal and never has to be parsed.
 */
export type Scan = Buffer;

/**
 * Type, inode, size, modification time, change time and mode of an entry. A program can set a modification time, but not
 * a change time, so a written file never keeps its stamp.
 */
export type Stamp = string;

/** An entry that differs between two scans. Its path has one character for each byte of its name (Latin-1). */
export interface ScanDifference {
  path: string;
  /** Null if there was no entry. */
  before: Stamp | null;
  after: Stamp | null;
}

/** The format of `find -printf` for an entry of a scan. */
export const findFormat = "%y %i %s %T@ %C@ %m %p\\0";

const fieldsBeforePath = 6;

/**
 * The differences outside of some folders, which are relative to the workspace. Troupe's own home can lie in a workspace:
 * its keys and journals are neither listed nor copied.
 */
export function outsideOf(folders: readonly string[], differences: ScanDifference[]): ScanDifference[] {
  const prefixes = folders.map((folder) => `${scanPath(folder)}/`);
  if (prefixes.length === 0) return differences;
  return differences.filter(({ path }) => !prefixes.some((prefix) => path.startsWith(prefix)));
}

/** Compares two scans. It parses only the part between their first and their last difference. */
export function compareScans(before: Scan, after: Scan): ScanDifference[] {
  const start = commonBeginning(before, after);
  const sameEnd = commonEnd(before, after, Math.min(before.length, after.length) - start);
  const old = stampsIn(before.subarray(start, before.length - sameEnd));
  const now = stampsIn(after.subarray(start, after.length - sameEnd));
  const differences: ScanDifference[] = [];
  for (const [path, stamp] of now) {
    const same = old.get(path);
    if (same !== stamp) differences.push({ path, before: same ?? null, after: stamp });
  }
  for (const [path, stamp] of old) if (!now.has(path)) differences.push({ path, before: stamp, after: null });
  return differences;
}

/** The stamps of a scan by path, without the files that the sandbox and the file tools make for a moment. */
export function stampsIn(scan: Scan): Map<string, Stamp> {
  const stamps = new Map<string, Stamp>();
  for (const line of scan.toString("latin1").split("\0")) {
    let space = -1;
    for (let field = 0; field < fieldsBeforePath; field += 1) space = line.indexOf(" ", space + 1);
    const path = line.slice(space + 3);
    const stamp = line.slice(0, space);
    if (space > 0 && !temporaryName.test(path) && !isPlaceholderStamp(stamp)) stamps.set(path, stamp);
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

/** The readable parts of a stamp. */
export function partsOf(stamp: Stamp) {
  const [type = "", inode = "", size = "", modified = "", changed = "", mode = ""] = stamp.split(" ");
  return {
    type,
    inode,
    size: Number(size),
    modified: Number(modified),
    changed: Number(changed),
    modifiedText: modified,
    changedText: changed,
    isExecutable: (Number.parseInt(mode, 8) & 0o100) !== 0,
  };
}

export interface StampStats {
  ino: bigint;
  size: bigint;
  mode: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
}

/** The stamp of an entry, as `find` prints it. */
export function stampOf(stats: StampStats): Stamp {
  const { ino, size, mode } = stats;
  const type = typeLetters.get(Number(mode) & 0o170000) ?? "U";
  return `${type} ${ino} ${size} ${timeText(stats.mtimeNs)} ${timeText(stats.ctimeNs)} ${(mode & 0o7777n).toString(8)}`;
}

const typeLetters = new Map([
  [0o100000, "f"],
  [0o120000, "l"],
  [0o040000, "d"],
  [0o010000, "p"],
  [0o140000, "s"],
  [0o060000, "b"],
  [0o020000, "c"],
]);

/** Seconds with ten digits of a fraction, of which the last is always zero. */
function timeText(ns: bigint): string {
  const second = 1_000_000_000n;
  const fraction = ((ns % second) + second) % second;
  return `${(ns - fraction) / second}.${String(fraction).padStart(9, "0")}0`;
}

const stepBytes = 64 * 1024;

/** Length of the equal beginning, up to the end of an entry. */
function commonBeginning(one: Buffer, other: Buffer): number {
  const shorter = Math.min(one.length, other.length);
  let same = 0;
  while (same + stepBytes <= shorter && one.compare(other, same, same + stepBytes, same, same + stepBytes) === 0)
    same += stepBytes;
  while (same < shorter && one[same] === other[same]) same += 1;
  return same === 0 ? 0 : one.lastIndexOf(0, same - 1) + 1;
}

/** Length of the equal end, from the start of an entry. */
function commonEnd(one: Buffer, other: Buffer, bytesMax: number): number {
  const [a, b] = [one.length, other.length];
  let same = 0;
  while (
    same + stepBytes <= bytesMax &&
    one.compare(other, b - same - stepBytes, b - same, a - same - stepBytes, a - same) === 0
  ) {
    same += stepBytes;
  }
  while (same < bytesMax && one[a - same - 1] === other[b - same - 1]) same += 1;
  if (same === bytesMax && (same === a || same === b)) return same;
  const end = one.indexOf(0, a - same);
  return end === -1 ? 0 : a - end - 1;
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
