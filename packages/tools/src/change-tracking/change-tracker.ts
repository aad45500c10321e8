import { join } from "node:path";
import type { Blobs } from "@troupe/core";
import type { FilePlan, FolderChanges } from "@troupe/core/internal";
import { versionOf } from "../workspace/file-version.ts";
import { type HeldFolder, holdRoot } from "../workspace/held-folder.ts";
import { openContents } from "./contents.ts";
import { createCurrentContents } from "./keep-current.ts";
import { changesText, listChanges } from "./list-changes.ts";
import { createSavedContents, type KeepBounds, readEntry } from "./saved-contents.ts";
import { compareScans, outsideOf, type Scan, type ScanDifference, scanPath, shownPath } from "./scan.ts";
import { createScanner, type ScanBounds } from "./scanner.ts";
import type { Stamp } from "./stamp.ts";
import { createStartScans, keyOf } from "./start-scans.ts";
import { createTimedScans, inTurns } from "./timed-scans.ts";

export interface ChangeTrackerOptions {
  /** Real path of the workspace. */
  workspace: string;
  /** Folder of this workspace's copies: private, and outside of every workspace. */
  folder: string;
  blobs: Pick<Blobs, "put">;
  keep: KeepBounds;
  scan: ScanBounds;
  /** Folders of the workspace that belong to troupe, relative to it. */
  hidden(): readonly string[];
  /** Whether a content has a known secret, and so gets no copy. @default never */
  hasSecret?: (content: Buffer) => boolean;
}

/** A call of a run of this host. */
export interface TrackedCall {
  session: string;
  run: string;
  step: number;
  call: number;
}

/** Finds the changes of commands in one workspace, by scans before and after each of them. */
export interface ChangeTracker {
  /**
   * Call it before a call starts. Resolves to the files that could not be restored; empty if there are none.
   *
   * @param plan the changes that the call announced and reports itself; null if only a scan can tell its changes
   */
  callStarted(call: TrackedCall, plan: readonly FilePlan[] | null): Promise<string>;
  /** The changes since the start of a call; null if there are none. Never throws. */
  callEnded(call: TrackedCall): Promise<FolderChanges | null>;
  /** Call it instead of `callEnded` for a call without an outcome. */
  callDropped(call: TrackedCall): void;
  /** The changes since the start of a call of a process that was killed; null if they cannot be found. */
  callInDoubt(call: TrackedCall): Promise<FolderChanges | null>;
  /** The files that could not be restored if a command changed them now; empty if there are none. */
  describeUnkept(): Promise<string>;
  /** Whether no call runs. */
  readonly isIdle: boolean;
  [Symbol.dispose](): void;
}

/** Name of the folder with the scans from the start of calls. */
export const startsName = "starts";

interface RunningCall {
  before: Scan | null;
  /** Files that file tools changed meanwhile, with the version that they wrote. */
  planned: Map<string, string | null>;
  /** Changes that other calls reported meanwhile, with the stamp after them. */
  reported: Map<string, Stamp | null>;
  isOverlapped: boolean;
}

export function createChangeTracker(options: ChangeTrackerOptions): ChangeTracker {
  const { workspace, folder } = options;
  const root = holdRoot(workspace);
  const saved = createSavedContents({
    ...{ root, workspace, folder: join(folder, "copies"), bounds: options.keep },
    ...(options.hasSecret && { hasSecret: options.hasSecret }),
  });
  const starts = createStartScans(join(folder, startsName));
  const current = createCurrentContents({ ...options, saved, bounds: options.keep, isCopyNeeded: starts.hasAny });
  const scanner = createScanner(workspace, options.scan);
  const scans = createTimedScans(scanner);
  const running = new Map<string, RunningCall>();
  const writers = new Map<string, readonly FilePlan[]>();
  const told = new Set<string>();

  const scanAndKeep = inTurns(async (): Promise<Scan | null> => {
    // While a command runs, it can hide its changes from everything but a scan.
    const isCommandRunning = [...running.values()].some(({ before }) => before !== null);
    const scan = await (isCommandRunning ? scans.next() : scans.nextIfChanged());
    if (scan === null) return null;
    if (running.size === 0) current.clear();
    await current.keep(scan);
    return scan;
  });

  const changesOf = async (call: RunningCall, { before, after }: { before: Scan; after: Scan }) => {
    const differences = outsideOf(options.hidden(), compareScans(before, after));
    const own = differences.filter((difference) => isOwn(difference, call, { root, workspace }));
    for (const other of running.values()) {
      if (other !== call) for (const { path, after: stamp } of differences) other.reported.set(path, stamp);
    }
    if (own.length === 0) return [];
    await using contents = openContents({ root, workspace, saved, current, bytesMax: options.keep.fileBytesMax });
    return await listChanges(own, { scans: { before, after }, blobs: options.blobs, ...contents });
  };

  /** @param what words for the time of the changes, such as `changed while this command ran` */
  const endCall = async (call: RunningCall, what: string): Promise<FolderChanges | null> => {
    const after = call.before && (await scans.next());
    current.commandEnded();
    if (call.before === null || after === null) return { changes: [], note: unrecorded(scans.failure()) };
    const changes = await changesOf(call, { before: call.before, after });
    if (changes.length === 0) return null;
    const others = call.isOverlapped
      ? " Other commands ran at the same time: some of these changes may be theirs."
      : "";
    return { changes, note: `[${what}: ${changesText(changes)}.${others}]` };
  };

  /** A note that nothing is recorded is given to a run once. */
  const toldOnce = ({ run }: TrackedCall, ended: FolderChanges | null): FolderChanges | null => {
    if (ended === null || ended.changes.length > 0) return ended;
    const isTold = told.has(run);
    told.add(run);
    return isTold ? null : ended;
  };

  return {
    async callStarted(call, plan) {
      const key = keyOf(call);
      if (plan !== null) {
        writers.set(key, plan);
        for (const other of running.values()) notePlan(other, plan);
        return "";
      }
      const started = newCall(running.size > 0);
      for (const other of running.values()) other.isOverlapped = true;
      running.set(key, started);
      for (const written of writers.values()) notePlan(started, written);
      started.before = await scanAndKeep();
      if (started.before === null) return unrecorded(scans.failure());
      await Promise.all([starts.save(call, started.before), current.clockMoved()]);
      return unkeptText(current.unkept());
    },
    async callEnded(call) {
      const key = keyOf(call);
      const started = running.get(key);
      if (writers.delete(key) || started === undefined) return null;
      try {
        return toldOnce(call, await endCall(started, "changed while this command ran"));
      } catch (error) {
        return toldOnce(call, { changes: [], note: unrecorded(String(error)) });
      } finally {
        running.delete(key);
      }
    },
    callDropped(call) {
      running.delete(keyOf(call));
      writers.delete(keyOf(call));
    },
    async callInDoubt(call) {
      const before = starts.load(call);
      if (before === null) return null;
      try {
        await current.keep(before);
        return await endCall({ ...newCall(false), before }, "changed since this command started");
      } catch {
        return null;
      }
    },
    async describeUnkept() {
      return (await scanAndKeep()) === null ? unrecorded(scans.failure()) : unkeptText(current.unkept());
    },
    get isIdle() {
      return running.size === 0 && writers.size === 0;
    },
    [Symbol.dispose]() {
      scanner[Symbol.dispose]();
      root[Symbol.dispose]();
    },
  };
}

function newCall(isOverlapped: boolean): RunningCall {
  return { before: null, planned: new Map(), reported: new Map(), isOverlapped };
}

function notePlan(call: RunningCall, plan: readonly FilePlan[]): void {
  for (const { path, after } of plan) call.planned.set(scanPath(path), after);
}

/** False for a change that a file tool or another command reports. */
function isOwn(difference: ScanDifference, call: RunningCall, place: { root: HeldFolder; workspace: string }): boolean {
  const { path, after } = difference;
  if (call.reported.get(path) === after) return false;
  const planned = call.planned.get(path);
  if (planned === undefined) return true;
  if (after === null || planned === null) return planned !== after;
  const bytes = readEntry(place, path, after, plannedBytesMax);
  return bytes === null || versionOf(bytes) !== planned;
}

/** A larger file was not written by a file tool. */
const plannedBytesMax = 32 * 1024 * 1024;

function unrecorded(reason: string | null): string {
  return `[changes by commands are not recorded in this workspace: ${reason ?? "it could not be scanned"}]`;
}

const namedMax = 3;

function unkeptText(unkept: ReadonlyMap<string, string>): string {
  if (unkept.size === 0) return "";
  const named = [...unkept].slice(0, namedMax).map(([path, reason]) => `${shownPath(path)} (${reason})`);
  const more = unkept.size > namedMax ? ` and ${unkept.size - namedMax} more` : "";
  const what = unkept.size === 1 ? "1 file" : `${unkept.size} files`;
  return `${what} could not be restored after a change: ${named.join(", ")}${more}`;
}
