import { readFileSync, statfsSync } from "node:fs";

/**
 * File systems of this machine that change the time of a file with each write, and the time of a folder with each new,
 * removed or renamed entry, both by the clock of this machine. A server of another machine has a clock of its own.
 */
const localTypes = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0xca451a4e, // bcachefs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

/** Whether the change times in a folder tell all its changes. False if another file system is mounted below it. */
export function hasChangeTimes(root: string): boolean {
  if (process.platform !== "linux") return false;
  try {
    return localTypes.has(statfsSync(root).type) && !hasMountBelow(root);
  } catch {
    return false;
  }
}

function hasMountBelow(root: string): boolean {
  const below = `${root.replace(/\/$/, "")}/`;
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .some((line) => unescaped(line.split(" ")[4] ?? "").startsWith(below));
}

/** Blanks and backslashes of a path are written as three octal digits. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** A moment by two clocks. */
export interface Moment {
  /** By the clock that file times follow, which can be set. */
  clockMs: number;
  /** By a clock that runs evenly. */
  steadyMs: number;
}

export function momentNow(): Moment {
  return { clockMs: Date.now(), steadyMs: performance.now() };
}

/** A clock that was set back hides changes: their times are before the earlier moment. */
const differenceMsMax = 50;

/** Whether the clock of file times ran evenly between two moments. */
export function isClockEven(from: Moment, to: Moment): boolean {
  const differenceMs = to.clockMs - from.clockMs - (to.steadyMs - from.steadyMs);
  return Math.abs(differenceMs) <= differenceMsMax;
}
