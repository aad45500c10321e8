import { scanWithNode } from "./node-scan.ts";
import type { Scan, ScannedFolder } from "./scan.ts";
import { parseScanText, partsOfLine } from "./scan-text.ts";

export interface UpdateOptions {
  /** Real path of the workspace. */
  root: string;
  known: Scan;
  /** The folders and entries with a change time after the known scan, in the text form of a scan. */
  changed: Buffer;
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
  const found = parseScanText(changed);
  if (found.size === 0) return known;
  const next = new Map(known);
  const read = new Set<string>();
  let namesLeft = namesMax;
  for (const path of changedFolders(found)) {
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
  for (const [path, { entries }] of found) {
    if (entries.length === 0 || read.has(path)) continue;
    const folder = next.get(path);
    // Its own folder is new to this scan, and was not listed: it came in this moment.
    if (folder === undefined) return null;
    next.set(path, { ...folder, entries: withEntries(folder.entries, entries) });
  }
  return next;
}

/** Folders that have a line of their own, each before those below it. */
function changedFolders(found: ReadonlyMap<string, ScannedFolder>): string[] {
  const paths = [...found].flatMap(([path, { identity }]) => (identity === "" ? [] : [path]));
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
