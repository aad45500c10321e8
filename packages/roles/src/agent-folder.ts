import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readSync,
} from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type AgentProblem, agentFileBytesMax } from "@troupe/core/internal";
import { type AgentFile, type AgentOrigin, type ParsedAgent, parseAgent, refusedAgent, stemOf } from "./parse-agent.ts";
import { createProblemReport, type Finding } from "./problem-report.ts";

/** A folder of agent files. */
export interface AgentFolder {
  path: string;
  origin: AgentOrigin;
  /** The folder must be inside this one after symbolic links are resolved. */
  within?: string;
  /** A missing folder is a problem. */
  required?: boolean;
}

export interface FolderContents {
  agents: readonly ParsedAgent[];
  /** Problems of the folder. The problems of a file are with its agent. */
  problems: readonly AgentProblem[];
}

export interface AgentReader {
  /** Reads all agent files below a folder. Never throws: an unreadable file or folder is a problem. */
  readFolder(folder: AgentFolder): Promise<FolderContents>;
  readFile(path: string, origin: AgentOrigin): Promise<ParsedAgent | null>;
}

export const fileBytesMax = agentFileBytesMax;
export const filesMax = 2_000;
const entriesMax = 10_000;
/** Entries beyond `entriesMax` are only counted, up to this number. */
const countedMax = 100_000;
const depthMax = 8;
const cachedFilesMax = 10_000;

/** Of all readers of this process: each troupe has its own, and all read the shipped agents. */
const cache = new Map<string, { stamp: string; agent: ParsedAgent }>();

/**
 * Reads agent files, and parses a file again only if its size, times or inode have changed. The times have nanoseconds, so
 * an edit within the same second counts too.
 */
export function createAgentReader(): AgentReader {
  const turns = createTurns();

  const remember = (key: string, stamp: string, agent: ParsedAgent): ParsedAgent => {
    cache.delete(key);
    cache.set(key, { stamp, agent });
    const oldest = cache.keys().next();
    if (cache.size > cachedFilesMax && !oldest.done) cache.delete(oldest.value);
    return agent;
  };

  const readFile = async (path: string, origin: AgentOrigin): Promise<ParsedAgent | null> => {
    const key = `${origin}:${path}`;
    try {
      const cached = cache.get(key);
      if (cached && cached.stamp === stampOf(lstatSync(path, { bigint: true }))) return cached.agent;
      await turns.next();
      const read = await readRegularFile(path);
      return read && remember(key, read.stamp, { ...parseBytes(path, origin, read), contentHash: sha256(read.bytes) });
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      return refusedFile(path, origin, {
        code: "unreadable-file",
        message: `${basename(path)} cannot be read: ${codeOf(error) ?? String(error)}`,
        fix: "make the file readable, or remove it",
      });
    }
  };

  const readFolder = async (folder: AgentFolder): Promise<FolderContents> => {
    const found = await findFiles(folder, turns);
    const agents = await Promise.all(found.paths.map((path) => readFile(path, folder.origin)));
    return { agents: agents.filter((agent) => agent !== null), problems: found.problems };
  };

  return { readFile, readFolder };
}

/** Lets other work of the process run between files. */
interface Turns {
  next(): Promise<void>;
}

/** How long files are read and parsed before other work of the process gets its turn. */
const turnMs = 10;

function createTurns(): Turns {
  let turn: Promise<unknown> | null = null;
  let startedMs = performance.now();
  return {
    async next(): Promise<void> {
      while (turn || performance.now() - startedMs > turnMs) {
        turn ??= setImmediate().then(() => {
          turn = null;
          startedMs = performance.now();
        });
        await turn;
      }
    },
  };
}

interface FoundFiles {
  paths: string[];
  problems: AgentProblem[];
}

async function findFiles(folder: AgentFolder, turns: Turns): Promise<FoundFiles> {
  const found: FoundFiles = { paths: [], problems: [] };
  const warn = (path: string, finding: Finding): void => {
    const report = createProblemReport(path, "");
    report.warn(0, finding);
    found.problems.push(...report.problems);
  };
  const state: FolderWalk = { found, warn, turns, entriesLeft: entriesMax, filesLeftOut: 0 };
  try {
    if (folder.within !== undefined && !(await isInside(folder.path, folder.within))) {
      warn(folder.path, {
        code: "outside-workspace",
        message: `${folder.path} is outside the workspace because of a symbolic link; it was not read`,
        fix: "move the folder into the workspace",
      });
      return found;
    }
    await walk(folder.path, 0, state);
  } catch (error) {
    if (codeOf(error) === "ENOENT" && !folder.required) return found;
    warn(folder.path, {
      code: "unreadable-folder",
      message: `${folder.path} cannot be read: ${codeOf(error) ?? String(error)}`,
      fix: "make the folder readable, or remove it",
    });
  }
  found.paths.sort();
  const leftOut = Math.max(0, found.paths.length - filesMax) + state.filesLeftOut;
  if (leftOut > 0) {
    // Without an error, `agents validate` would call a folder valid that it has not read.
    found.problems.push(tooManyFiles(folder.path, leftOut, state.entriesLeft < entriesMax - countedMax));
    found.paths.length = Math.min(found.paths.length, filesMax);
  }
  return found;
}

function tooManyFiles(path: string, leftOut: number, isLeast: boolean): AgentProblem {
  const count = `${isLeast ? "at least " : ""}${leftOut} agent file${leftOut === 1 ? " was" : "s were"} left out`;
  return {
    ...{ path, line: 1, column: 1, severity: "error", code: "too-many-files" },
    message: `${path} has too many files: ${count}; at most ${filesMax} agent files, and ${entriesMax} files and folders, are read`,
    fix: "move unused agent files and all other files to another folder",
  };
}

interface FolderWalk {
  found: FoundFiles;
  warn: (path: string, finding: Finding) => void;
  turns: Turns;
  /** Below 0, files are only counted. */
  entriesLeft: number;
  filesLeftOut: number;
}

/** Its calls are synchronous too: most folders have few entries, and a promise for each costs more than the folder. */
async function walk(path: string, depth: number, state: FolderWalk): Promise<void> {
  const folder = opendirSync(path);
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      state.entriesLeft -= 1;
      if (state.entriesLeft < entriesMax - countedMax) return;
      if (state.entriesLeft % 100 === 0) await state.turns.next();
      const child = join(path, entry.name);
      if (entry.isDirectory() && depth < depthMax) await walk(child, depth + 1, state);
      else noteEntry(entry, child, state);
    }
  } finally {
    folder.closeSync();
  }
}

function noteEntry(entry: Dirent, path: string, state: FolderWalk): void {
  const isAgentFile = entry.isFile() && isAgentFileName(entry.name);
  if (state.entriesLeft < 0) state.filesLeftOut += isAgentFile ? 1 : 0;
  else if (isAgentFile) state.found.paths.push(path);
  else if (entry.isSymbolicLink()) {
    state.warn(path, {
      code: "symbolic-link",
      message: `${entry.name} is a symbolic link; it was not read`,
      fix: "replace the link with the file",
    });
  }
}

/** Whether a file with this name can define an agent. */
export function isAgentFileName(name: string): boolean {
  return /\.md$/i.test(name) && !/^readme\.md$/i.test(name);
}

async function isInside(path: string, folder: string): Promise<boolean> {
  const fromFolder = relative(await realpath(folder), await realpath(path));
  return fromFolder !== ".." && !fromFolder.startsWith(`..${sep}`) && !fromFolder.startsWith(sep);
}

interface FileBytes {
  bytes: Uint8Array;
  size: number;
  stamp: string;
}

/**
 * Returns null if the path is not a regular file. Does not follow a new symbolic link, and does not block on a pipe.
 *
 * Its calls are synchronous, because the files are small: with a promise for each, reading 1,000 files takes longer than
 * parsing them.
 */
export async function readRegularFile(path: string, bytesMax = fileBytesMax): Promise<FileBytes | null> {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file, { bigint: true });
    if (!stats.isFile()) return null;
    const bytes = readAtMost(file, Number(stats.size), bytesMax);
    return { bytes, size: Math.max(Number(stats.size), bytes.length), stamp: stampOf(stats) };
  } finally {
    closeSync(file);
  }
}

/** Reads a file to its end, or to one byte more than a file may have. It can have grown since its size was read. */
function readAtMost(file: number, size: number, bytesMax: number): Uint8Array {
  let buffer = new Uint8Array(Math.min(size, bytesMax) + 1);
  let length = 0;
  for (;;) {
    const bytesRead = readSync(file, buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length > bytesMax) return buffer.subarray(0, length);
    if (length < buffer.length) continue;
    const larger = new Uint8Array(Math.min(2 * length, bytesMax + 1));
    larger.set(buffer);
    buffer = larger;
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function parseBytes(path: string, origin: AgentOrigin, { bytes, size }: FileBytes): ParsedAgent {
  if (size > fileBytesMax) {
    return refusedFile(path, origin, {
      code: "file-too-large",
      message: `${basename(path)} has ${size} bytes; the maximum is ${fileBytesMax}`,
      fix: "shorten it: every model call sends the whole prompt",
    });
  }
  const text = decoder.decode(bytes);
  const bad = text.indexOf("\uFFFD");
  if (bad === -1 || isUtf8(bytes)) return parseAgent({ path, origin, text });
  const report = createProblemReport(path, text);
  report.error(bad, {
    code: "not-utf8",
    message: `${basename(path)} is not UTF-8`,
    fix: "save it as UTF-8",
  });
  return refusedAgent({ path, origin }, stemOf(path), report.problems);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function refusedFile(path: string, origin: AgentFile["origin"], finding: Finding): ParsedAgent {
  const report = createProblemReport(path, "");
  report.error(0, finding);
  return refusedAgent({ path, origin }, stemOf(path), report.problems);
}

/** Differs after every change of a file. */
export function stampOf(stats: BigIntStats): string {
  return `${stats.ino}/${stats.size}/${stats.mtimeNs}/${stats.ctimeNs}`;
}

function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : undefined;
}
