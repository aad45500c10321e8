/**
 * Type, inode, size, modification time, change time and mode of an entry. A program can set a modification time, but not
 * a change time, so a written file never keeps its stamp.
 */
export type Stamp = string;

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
    bits: Number.parseInt(mode, 8) & 0o777,
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
