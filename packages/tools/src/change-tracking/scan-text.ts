import type { Scan, ScannedFolder } from "./scan.ts";
import type { Stamp } from "./stamp.ts";

/**
 * The text form of a scan, as `find` prints it and as it is saved: a line for each folder and for each other entry, ended
 * by a NUL byte. The line of a folder is `d`, its identity, a space and its path. The entries of a folder can stand in
 * several places.
 */

/** The format of `find -printf` for a folder. */
export const folderFormat = "d%D:%i %p\\0";
/** The format of `find -printf` for any other entry. */
export const entryFormat = "%y %i %s %T@ %C@ %m %p\\0";

const [nul, space, slash, letterD] = [0x00, 0x20, 0x2f, 0x64];
const fieldsBeforePath = 6;

/** Reads the text form. A folder whose own line is missing has an empty identity. */
export function parseScanText(text: Buffer): Map<string, ScannedFolder> {
  const folders = new Map<string, { identity: string; parts: Buffer[] }>();
  const folderAt = (path: string) => {
    const known = folders.get(path);
    if (known) return known;
    const folder = { identity: "", parts: [] };
    folders.set(path, folder);
    return folder;
  };

  let run = { path: "", from: 0, until: 0 };
  const endRun = (): void => {
    if (run.until > run.from) folderAt(run.path).parts.push(text.subarray(run.from, run.until));
  };
  for (let at = 0; at < text.length; ) {
    const { pathAt, nameAt, end } = lineAt(text, at);
    if (text[at] === letterD) {
      const path = text.toString("latin1", pathAt, end);
      folderAt(path === "" ? "" : `${path}/`).identity = text.toString("latin1", at + 1, text.indexOf(space, at));
    } else if (run.until === at && isPathAt(text, pathAt, nameAt, run.path)) {
      run.until = end + 1;
    } else {
      endRun();
      run = { path: text.toString("latin1", pathAt, nameAt), from: at, until: end + 1 };
    }
    at = end + 1;
  }
  endRun();
  return new Map(Array.from(folders, ([path, { identity, parts }]) => [path, { identity, entries: joined(parts) }]));
}

/** Positions in one line: of its path without the `./`, of the name in it, and of its end. */
function lineAt(text: Buffer, at: number): { pathAt: number; nameAt: number; end: number } {
  let fields = text[at] === letterD ? 1 : fieldsBeforePath;
  let pathAt = at;
  for (; fields > 0; fields -= 1) pathAt = text.indexOf(space, pathAt) + 1;
  // The path of the workspace is a dot without a slash.
  let nameAt = pathAt + 1;
  let end = pathAt;
  for (; end < text.length && text[end] !== nul; end += 1) if (text[end] === slash) nameAt = end + 1;
  return { pathAt: Math.min(pathAt + 2, end), nameAt: Math.min(nameAt, end), end };
}

function isPathAt(text: Buffer, from: number, until: number, path: string): boolean {
  if (until - from !== path.length) return false;
  for (let i = 0; i < path.length; i += 1) if (text[from + i] !== path.charCodeAt(i)) return false;
  return true;
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return only && parts.length === 1 ? only : Buffer.concat(parts);
}

/** The text form of a scan. */
export function scanText(scan: Scan): Buffer {
  const parts: Buffer[] = [];
  for (const [path, { identity, entries }] of scan) parts.push(folderLine(path, identity), entries);
  return Buffer.concat(parts);
}

function folderLine(path: string, identity: string): Buffer {
  return Buffer.from(`d${identity} ./${path.slice(0, -1)}\0`, "latin1");
}

/** Stamp and path of an entry's line, which is given without its end. */
export function partsOfLine(line: string): { stamp: Stamp; path: string } {
  let end = -1;
  for (let field = 0; field < fieldsBeforePath; field += 1) end = line.indexOf(" ", end + 1);
  return { stamp: line.slice(0, end), path: line.slice(end + 3) };
}
