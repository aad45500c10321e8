import { createHash } from "node:crypto";
import { readdirSync, realpathSync, rmSync, statSync, utimesSync } from "node:fs";
import { join, relative } from "node:path";
import type { Blobs, Redactor } from "@troupe/core";
import { redactBytes } from "@troupe/core/internal";
import { hiddenBelow } from "../workspace/hidden-folders.ts";
import { isWithin } from "../workspace/workspace-path.ts";
import { type ChangeTracker, createChangeTracker, startsName, type TrackedCall } from "./change-tracker.ts";
import { type KeepBounds, keepBounds } from "./saved-contents.ts";
import { type ScanBounds, scanBounds } from "./scanner.ts";
import { removeStartScans, runsWithStartScans } from "./start-scans.ts";

export interface ChangeTrackersOptions {
  /** Folder of all copies: private, and outside of every workspace. */
  folder: string;
  blobs: Pick<Blobs, "put">;
  /** Finds known secrets: a file with one gets no copy. @default no search */
  redact?: Redactor;
  keep?: Partial<KeepBounds>;
  scan?: Partial<ScanBounds>;
}

/** The trackers of all workspaces of this process. Runs that share a workspace share its tracker. */
export interface ChangeTrackers {
  /** The tracker of a workspace; null if the workspace cannot be opened: its tools then report the error. */
  of(workspace: string): ChangeTracker | null;
  /** Removes the start scans of a settled run. */
  forgetRun(workspace: string, run: Pick<TrackedCall, "session" | "run">): void;
  /** Removes the start scans of settled runs, and the copies of workspaces without a call for a week. */
  removeLeftovers(isSettled: (run: Pick<TrackedCall, "session" | "run">) => Promise<boolean>): Promise<void>;
}

/** Trackers of more workspaces are closed while they are idle. */
const trackersMax = 16;
const unusedMsMax = 7 * 24 * 3_600_000;

export function createChangeTrackers(options: ChangeTrackersOptions): ChangeTrackers {
  const { folder, blobs, redact } = options;
  const bounds = { keep: { ...keepBounds, ...options.keep }, scan: { ...scanBounds, ...options.scan } };
  const trackers = new Map<string, ChangeTracker>();

  const closeOldest = (): void => {
    for (const [path, tracker] of trackers) {
      if (trackers.size < trackersMax) return;
      if (!tracker.isIdle) continue;
      trackers.delete(path);
      tracker[Symbol.dispose]();
    }
  };

  const folderOf = (workspace: string): string =>
    join(folder, createHash("sha256").update(workspace).digest("hex").slice(0, 32));

  return {
    of(path) {
      try {
        const workspace = realpathSync(path);
        const known = trackers.get(workspace);
        if (known) return known;
        closeOldest();
        const hidden = (): string[] => [...hiddenBelow(workspace), ...foldersBelow(workspace, options.folder)];
        const tracker = createChangeTracker({
          ...{ workspace, folder: folderOf(workspace), blobs, hidden, ...bounds },
          ...(redact && { hasSecret: (content) => redactBytes(redact, content) !== content }),
        });
        utimesSync(folderOf(workspace), new Date(), new Date());
        trackers.set(workspace, tracker);
        return tracker;
      } catch {
        return null;
      }
    },
    forgetRun(path, run) {
      const workspace = realPathOrSame(path);
      removeStartScans(join(folderOf(workspace), startsName), run);
    },
    async removeLeftovers(isSettled) {
      for (const name of namesIn(folder)) {
        const starts = join(folder, name, startsName);
        for (const run of runsWithStartScans(starts)) if (await isSettled(run)) removeStartScans(starts, run);
        const isUsed = runsWithStartScans(starts).length > 0 || isRecent(join(folder, name));
        if (!isUsed) rmSync(join(folder, name), { recursive: true, force: true });
      }
    },
  };
}

/** The folder relative to a workspace that contains it. */
function foldersBelow(workspace: string, folder: string): string[] {
  const real = realPathOrSame(folder);
  return isWithin(workspace, real) ? [relative(workspace, real)] : [];
}

function realPathOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isRecent(folder: string): boolean {
  return Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) < unusedMsMax;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
