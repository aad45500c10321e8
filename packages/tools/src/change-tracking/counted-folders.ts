import { runsLaterMark } from "../workspace/protected-paths.ts";
import { type Scan, type ScanDifference, shownPath } from "./scan.ts";

/** Folders that programs fill. Their files are counted, not listed: there can be very many, and programs make them again. */
const countedNames = /^(.*?\/)?(\.git|node_modules|__pycache__|\.venv|\.tox|\.(?:mypy|pytest|ruff)_cache|\.gradle)\//s;

/** The counted folder that a path lies in, with a `/` at its end; null for a path that is listed. */
export function countedFolder(path: string): string | null {
  const folder = countedNames.exec(path)?.[0] ?? null;
  // A file that another program runs later, such as a hook of git, is always listed.
  return folder !== null && runsLaterMark(shownPath(path)).runsLater === undefined ? folder : null;
}

/** Changes in one folder that are counted instead of listed. */
export interface CountedChanges {
  folder: string;
  kind: "created" | "modified" | "deleted";
  created: number;
  modified: number;
  deleted: number;
}

/** Whether a change is worth counting. Git changes its own files all the time, and only a loss of them matters. */
function isCounted(folder: string, { after }: ScanDifference): boolean {
  return after === null || !folder.endsWith(".git/");
}

/** Counts differences by folder. A folder without files before or after was created or deleted as a whole. */
export function countChanges(
  differences: Iterable<readonly [folder: string, difference: ScanDifference]>,
  { before, after }: { before: Scan; after: Scan },
): CountedChanges[] {
  const counted = new Map<string, CountedChanges>();
  for (const [folder, difference] of differences) {
    if (!isCounted(folder, difference)) continue;
    const counts = counted.get(folder) ?? { folder, kind: "modified", created: 0, modified: 0, deleted: 0 };
    counts[kindOf(difference)] += 1;
    counted.set(folder, counts);
  }
  for (const counts of counted.values()) {
    if (!hasFilesIn(after, counts.folder)) counts.kind = "deleted";
    else if (!hasFilesIn(before, counts.folder)) counts.kind = "created";
  }
  return [...counted.values()];
}

function hasFilesIn(scan: Scan, folder: string): boolean {
  if (folder === "./") return true;
  for (const [path, { entries }] of scan) if (entries.length > 0 && path.startsWith(folder)) return true;
  return false;
}

export function kindOf({ before, after }: ScanDifference): "created" | "modified" | "deleted" {
  return before === null ? "created" : after === null ? "deleted" : "modified";
}

/** The counts, such as `312 files deleted, 1 created`. */
export function countsText({ created, modified, deleted }: CountedChanges): string {
  const counts = [
    [deleted, "deleted"],
    [created, "created"],
    [modified, "modified"],
  ] as const;
  const [first, ...others] = counts.filter(([count]) => count > 0);
  if (first === undefined) return "";
  const noun = first[0] === 1 ? "file" : "files";
  return [`${first[0]} ${noun} ${first[1]}`, ...others.map(([count, what]) => `${count} ${what}`)].join(", ");
}

/** The top folder of a path, for changes over the number that is listed. */
export function topFolder(path: string): string {
  const end = path.indexOf("/");
  return end === -1 ? "./" : path.slice(0, end + 1);
}
