import { scanWithNode } from "./node-scan.ts";
import { hasSameEntries, type Scan, type ScannedFolder } from "./scan.ts";
import { partsOfLine } from "./scan-text.ts";

export interface UpdateOptions {
  /** Real path of the workspace. */
  root: string;
  known: Scan;
  /**
   * The folders and entries with a change time after the known scan. A folder has an identity only if it changed itself.
   */
  changed: ReadonlyMap<string, ScannedFolder>;
  /** Number of names that are read again at most. */
  namesMax: number;
}

/**
 * The scan of now, from an earlier scan and the changes since then. A new, removed or renamed entry changes the time of its
 * folder, so the names of changed folders are read again. A folder below is known if it has the same path and inode: then
 * all its own changes are listed as well.
 *
 * Returns the earlier scan itself if nothing changed, and null after too many changes.
 */
export function updateScan({ root, known, changed, namesMax }: UpdateOptions): Scan | null {
  if (changed.size === 0) return known;
  const next = new Map(known);
  const read = new Set<string>();
  let namesLeft = namesMax;
  for (const path of changedFolders(changed)) {
    if (read.has(path)) continue;
    const unchanged = new Set<string>();
    const isKnown = (child: string, identity: string): boolean => {
      const isSame = next.get(child)?.identity === identity;
      if (isSame) unchanged.add(child);
      return isSame;
    };
    const folders = scanWithNode({ root, from: path, namesMax: namesLeft, isKnown });
    if (folders === null) return null;
    removeBelow(next, path, unchanged);
    for (const [name, folder] of folders) {
      next.set(name, folder);
      read.add(name);
      namesLeft -= namesIn(folder);
    }
  }
  for (const [path, { entries }] of changed) {
    if (entries.length === 0 || read.has(path)) continue;
    const folder = next.get(path);
    // Its own folder is new to this scan, and was not listed: it came in this moment.
    if (folder === undefined) return null;
    next.set(path, { ...folder, entries: withEntries(folder.entries, entries) });
    read.add(path);
  }
  return isEqualScan(known, next, read) ? known : next;
}

/** Whether a scan is equal to an earlier one. Folders that were read again and are equal become the earlier objects. */
function isEqualScan(known: Scan, next: Map<string, ScannedFolder>, read: ReadonlySet<string>): boolean {
  let isEqual = true;
  for (const path of read) {
    const [before, after] = [known.get(path), next.get(path)];
    const isUnchanged = before && after && before.identity === after.identity && hasSameEntries(before, after);
    if (isUnchanged) next.set(path, before);
    else isEqual = false;
  }
  // No folder is new, so a missing one makes the scan smaller.
  return isEqual && next.size === known.size;
}

/** Folders that have a line of their own, each before those below it. */
function changedFolders(changed: ReadonlyMap<string, ScannedFolder>): string[] {
  const paths = [...changed].flatMap(([path, { identity }]) => (identity === "" ? [] : [path]));
  return paths.sort((a, b) => a.length - b.length);
}

/** Removes a folder with all that is below it, except some of its folders. */
function removeBelow(scan: Map<string, ScannedFolder>, path: string, unchanged: ReadonlySet<string>): void {
  for (const other of scan.keys()) {
    if (!other.startsWith(path)) continue;
    const child = other.slice(0, other.indexOf("/", path.length) + 1);
    if (other === path || !unchanged.has(child)) scan.delete(other);
  }
}

function namesIn({ entries }: ScannedFolder): number {
  let names = 1;
  for (let at = entries.indexOf(0); at !== -1; at = entries.indexOf(0, at + 1)) names += 1;
  return names;
}

/** The entries of a folder with some of them replaced, or added. */
function withEntries(entries: Buffer, changed: Buffer): Buffer {
  const lines = new Map<string, string>();
  for (const bytes of [entries, changed]) {
    for (const line of bytes.toString("latin1").split("\0")) {
      if (line !== "") lines.set(partsOfLine(line).path, `${line}\0`);
    }
  }
  return Buffer.from([...lines.values()].join(""), "latin1");
}
