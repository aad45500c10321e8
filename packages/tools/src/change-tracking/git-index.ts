import { readFileSync } from "node:fs";
import { partsOf, type Stamp } from "./stamp.ts";

/** The content of a file that git has: the hash of its object. */
export interface GitFile {
  object: string;
  /** The stamp's inode, size and times, as git saw them when the content was equal to the object. */
  stat: string;
}

/** Files whose content is in git's objects, by path with one character for each byte. */
export type GitFiles = ReadonlyMap<string, GitFile>;

const headerBytes = 12;
const entryBytes = 62;
const modesOfFiles = new Set([0o100644, 0o100755]);

/**
 * Reads the tracked files of a git index with the stamps at which git knew them as unchanged. Empty for an index that is
 * missing, damaged or of another kind: its files then count as unknown to git. A command can forge an index, so read it
 * only if no command has changed it.
 */
export function readGitIndex(file: string): GitFiles {
  try {
    return parseGitIndex(readFileSync(file));
  } catch {
    return new Map();
  }
}

export function parseGitIndex(bytes: Buffer): GitFiles {
  const files = new Map<string, GitFile>();
  const version = bytes.readUInt32BE(4);
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return files;
  let at = headerBytes;
  let path = "";
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const flags = bytes.readUInt16BE(at + 60);
    const nameAt = at + entryBytes + ((flags & 0x4000) !== 0 ? 2 : 0);
    const name = version === 4 ? shortenedName(bytes, nameAt, path) : plainName(bytes, nameAt);
    path = name.path;
    const isMerged = (flags & 0x3000) === 0;
    if (isMerged && modesOfFiles.has(bytes.readUInt32BE(at + 24))) files.set(path, fileAt(bytes, at));
    at = version === 4 ? name.end + 1 : at + Math.ceil((name.end + 1 - at) / 8) * 8;
  }
  return files;
}

function fileAt(bytes: Buffer, at: number): GitFile {
  const time = (from: number): string =>
    `${bytes.readUInt32BE(from)}.${String(bytes.readUInt32BE(from + 4)).padStart(9, "0")}0`;
  const stat = `${bytes.readUInt32BE(at + 20)} ${bytes.readUInt32BE(at + 36)} ${time(at + 8)} ${time(at)}`;
  return { object: bytes.toString("hex", at + 40, at + 60), stat };
}

function plainName(bytes: Buffer, from: number) {
  const end = bytes.indexOf(0, from);
  if (end === -1) throw new RangeError("the index is damaged");
  return { path: bytes.toString("latin1", from, end), end };
}

/** In version 4, a name is the name before it without some bytes of its end, and more text. */
function shortenedName(bytes: Buffer, from: number, before: string) {
  let at = from;
  let byte = bytes.readUInt8(at);
  let cut = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    at += 1;
    byte = bytes.readUInt8(at);
    cut = ((cut + 1) << 7) | (byte & 0x7f);
  }
  const { path, end } = plainName(bytes, at + 1);
  return { path: before.slice(0, before.length - cut) + path, end };
}

/**
 * The object with the content of a file that has not changed since git saw it; null for any other file. A file that
 * changed in the moment when git wrote its index counts as unknown, because git itself would read it again.
 *
 * @param writtenS time at which the index was written
 */
export function cleanObject(files: GitFiles, path: string, stamp: Stamp, writtenS: number): string | null {
  const known = files.get(path);
  if (known === undefined) return null;
  const { type, inode, size, modified, modifiedText, changedText } = partsOf(stamp);
  const stat = `${Number(BigInt(inode) & 0xffffffffn)} ${size} ${modifiedText} ${changedText}`;
  return type === "f" && known.stat === stat && modified < writtenS ? known.object : null;
}
