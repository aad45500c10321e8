import { statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { linkedRepository } from "../workspace/linked-repository.ts";
import { countedFolder } from "./counted-folders.ts";
import { cleanObject, type GitFiles, readGitIndex } from "./git-index.ts";
import { type KeepBounds, noTimeReason, type SavedContents } from "./saved-contents.ts";
import { compareScans, outsideOf, type Scan } from "./scan.ts";
import { partsOf, type Stamp } from "./stamp.ts";

const emptyScan: Scan = new Map();

/** Copies longer than this let other work of this process run. */
const sliceMs = 10;

/** Two changes of a file within this time can have the same time stamp: kernels count time in steps of up to 10 ms. */
const clockStepMs = 12;

/** Keeps copies of all files that no git object has, and knows which files have none. */
export interface CurrentContents {
  /** Copies the files of a scan. Files that did not change since the last scan cost nothing. */
  keep(scan: Scan): Promise<void>;
  /** Waits until a new change of any copied file gets a new stamp. */
  clockMoved(): Promise<void>;
  /** Notes that a command has ended: from now on, an index that differs was written by that command. */
  commandEnded(): void;
  /** The object of git with the content of a file at a stamp; null if there is none. */
  objectOf(path: string, stamp: Stamp): string | null;
  /** Why there is no copy of a file at a stamp. */
  reasonOf(path: string, stamp: Stamp): string;
  /** The listed files without a copy, and why. */
  unkept(): ReadonlyMap<string, string>;
  /** Removes the copies of old contents. Call it when no command runs. */
  clear(): void;
}

export interface CurrentContentsOptions {
  /** Real path of the workspace. */
  workspace: string;
  saved: SavedContents;
  bounds: KeepBounds;
  /** Folders of the workspace that belong to troupe, relative to it. */
  hidden(): readonly string[];
  /** Whether a call of an earlier process may need its copies. */
  isCopyNeeded(): boolean;
}

export function createCurrentContents({
  workspace,
  saved,
  bounds,
  hidden,
  isCopyNeeded,
}: CurrentContentsOptions): CurrentContents {
  const git = createTrustedIndex(workspace);
  const copies = new Map<string, Stamp>();
  const unkept = new Map<string, string>();
  let outdated: [path: string, stamp: Stamp][] = [];
  let known = emptyScan;
  let isFirst = true;
  /** Time of the newest change of any file. */
  let changedS = 0;
  /** Files to try again, because there was no time. */
  let waiting = new Map<string, Stamp>();

  const forget = (path: string): void => {
    const stamp = copies.get(path);
    if (stamp !== undefined) outdated.push([path, stamp]);
    copies.delete(path);
    unkept.delete(path);
    waiting.delete(path);
  };

  const keepOne = (path: string, stamp: Stamp, isLate: boolean): void => {
    const reason = isLate ? noTimeReason : saved.keep(path, stamp);
    if (reason === null) copies.set(path, stamp);
    else unkept.set(path, reason);
    if (reason === noTimeReason) waiting.set(path, stamp);
  };

  /** The files of a scan that neither git nor a copy has, and the time of the newest change. */
  const candidatesIn = (scan: Scan): { candidates: Map<string, Stamp>; newestS: number } => {
    const candidates = waiting;
    waiting = new Map();
    let newestS = 0;
    for (const { path, after } of outsideOf(hidden(), compareScans(known, scan))) {
      forget(path);
      candidates.delete(path);
      if (after === null) continue;
      newestS = Math.max(newestS, partsOf(after).changed);
      if (countedFolder(path) === null && git.objectOf(path, after) === null) candidates.set(path, after);
    }
    known = scan;
    return { candidates, newestS };
  };

  const copyAll = async (candidates: ReadonlyMap<string, Stamp>): Promise<void> => {
    // Small files first: more of them fit into the bounds.
    const sorted = [...candidates].sort(([, a], [, b]) => partsOf(a).size - partsOf(b).size);
    const untilMs = performance.now() + bounds.timeMs;
    let sliceUntilMs = performance.now() + sliceMs;
    for (const [path, stamp] of sorted) {
      unkept.delete(path);
      keepOne(path, stamp, performance.now() > untilMs);
      if (performance.now() < sliceUntilMs) continue;
      await setImmediate();
      sliceUntilMs = performance.now() + sliceMs;
    }
  };

  return {
    async keep(scan) {
      await git.refresh();
      const { candidates, newestS } = candidatesIn(scan);
      await copyAll(candidates);
      changedS = Math.max(changedS, newestS);
      // Copies that an earlier process left.
      if (isFirst && !isCopyNeeded()) saved.dropOthers([...copies]);
      isFirst = false;
    },
    async clockMoved() {
      if (changedS > (Date.now() - clockStepMs) / 1000) await setTimeout(clockStepMs);
    },
    commandEnded: () => git.noteIndex(),
    objectOf: (path, stamp) => git.objectOf(path, stamp),
    reasonOf: (path, stamp) => (copies.get(path) === stamp ? lostReason : (unkept.get(path) ?? otherReason)),
    unkept: () => unkept,
    clear() {
      for (const [path, stamp] of outdated) saved.drop(path, stamp);
      outdated = [];
    },
  };
}

const lostReason = "its copy was lost";
const otherReason = "it was made or changed by another command at the same time";

/** The index of a workspace's repository, as far as no command can have forged it. */
function createTrustedIndex(workspace: string) {
  let files: GitFiles = new Map();
  let writtenS = 0;
  let seen: string | null = null;

  const indexFile = async (): Promise<string> => {
    const linked = await linkedRepository(workspace);
    return join(linked?.own ?? join(workspace, ".git"), "index");
  };
  let file = join(workspace, ".git", "index");

  const stampNow = (): { text: string; modifiedS: number } => {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats
      ? { text: `${stats.ino}/${stats.size}/${stats.mtimeMs}/${stats.ctimeMs}`, modifiedS: stats.mtimeMs / 1000 }
      : { text: "", modifiedS: 0 };
  };

  return {
    async refresh() {
      if (seen === null) file = await indexFile();
      const { text, modifiedS } = stampNow();
      if (text === seen) return;
      files = readGitIndex(file);
      writtenS = modifiedS;
      seen = text;
    },
    noteIndex() {
      if (seen !== null) seen = stampNow().text;
    },
    objectOf: (path: string, stamp: Stamp): string | null => cleanObject(files, path, stamp, writtenS),
  };
}
