import type { ToolContext } from "@troupe/core";
import type { FilePlan } from "@troupe/core/internal";
import { changedBytesMax, type FileTarget, notWritable, refuseShared, tooLarge } from "../workspace/change-files.ts";
import { type FileBytes, readHeld, shortVersion, versionOf } from "../workspace/file-version.ts";
import { refuseUnlessChangeable } from "../workspace/may-change.ts";
import { type ResolvedPath, resolvePath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";
import { conflict } from "./conflict.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";

/** What a call wants to become of one file. */
export interface FileChangeRequest {
  path: string;
  /** Another file of the call, whose content `make` gets. @default the file itself */
  from?: string;
  /** The version that it is about, as a model names it. @default what its run has last seen */
  version?: string | undefined;
  /** The new content, null to delete it. Throws a `RunFailure` for what cannot be made of it. */
  make(now: Buffer | null, shown: string, notes: string[]): Buffer | null;
}

/** One file, as it was found and as it is to be. */
export interface PlannedFile {
  shown: string;
  real: string;
  /** Without its bytes where it is known from a journal alone. */
  before: { version: string; bytes: Buffer | null } | null;
  after: FileBytes | null;
  /** What a model should know of how it was done. */
  notes: string[];
}

/** Plans all of a call's files, from what is there now. Throws for whatever of it must not or cannot be done. */
export async function planFiles(
  wishes: readonly FileChangeRequest[],
  context: ToolContext,
  room: FileToolDeps,
): Promise<PlannedFile[]> {
  await room.turns.take(context, await keysOf(wishes, context));
  await using found = await findPlaces(wishes, context);
  const old = await Promise.all(found.all.map(readPlace));
  // Awaited here: when this scope ends, nothing of what was found is held any more.
  return await Promise.all(
    wishes.map(async (wish, i) => {
      const place = found.all[i] as ResolvedPath;
      const before = old[i] ?? null;
      if (before !== null) await refuseUnlessSeen({ wish, place, before }, context, room);
      else if (wish.version !== undefined) throw conflict({ place, now: null, seen: [wish.version] }, room);
      const source =
        wish.from === undefined ? before : (old[wishes.findIndex(({ path }) => path === wish.from)] ?? null);
      if (wish.from !== undefined && before !== null) throw notWritable(place.shown, "there is a file already");
      const notes: string[] = [];
      const bytes = wish.make(source?.bytes ?? null, place.shown, notes);
      if (bytes !== null && bytes.length > changedBytesMax) throw tooLarge(place.shown, bytes.length);
      const after = bytes === null ? null : { bytes, version: versionOf(bytes) };
      return { shown: place.shown, real: place.real, before, after, notes };
    }),
  );
}

async function keysOf(wishes: readonly FileChangeRequest[], context: ToolContext): Promise<string[]> {
  await using places = await findPlaces(wishes, context);
  return places.all.map(({ key }) => key);
}

/** As it is journaled. */
export function filePlan(files: readonly PlannedFile[]): FilePlan[] {
  return files.map(({ real, before, after }) => ({
    path: real,
    before: versionIn(before),
    after: versionIn(after),
  }));
}

export function versionIn(content: { version: string } | null): string | null {
  return content?.version ?? null;
}

/** What is to be done at a place; what has its content already is left alone. */
export function targetOf(place: ResolvedPath, file: PlannedFile | undefined): FileTarget[] {
  if (file?.real !== place.real)
    throw failure("tool_error", `${place.shown} was moved while it was changed; try again`);
  const before = versionIn(file.before);
  return before === versionIn(file.after) ? [] : [{ place, before, after: file.after?.bytes ?? null }];
}

export interface Places extends AsyncDisposable {
  all: ResolvedPath[];
}

/** Where the files of a call are: places that may be changed, each named once. */
export async function findPlaces(
  wishes: readonly FileChangeRequest[],
  { workspace, grant }: ToolContext,
): Promise<Places> {
  const all: ResolvedPath[] = [];
  const close = async (): Promise<void> => {
    for (const place of all) await place[Symbol.asyncDispose]();
  };
  try {
    for (const { path } of wishes) {
      const place = await resolvePath(workspace, path);
      all.push(place);
      refuseUnlessChangeable(place, grant.writes);
      refuseUnlessFile(place);
      if (all.some((other) => other !== place && other.key.toLowerCase() === place.key.toLowerCase())) {
        throw failure("params", `${place.shown} is named twice: say all that is to be done to a file at once`);
      }
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { all, [Symbol.asyncDispose]: close };
}

function refuseUnlessFile({ isLink, found, shown, name }: ResolvedPath): void {
  if (isLink) throw notWritable(shown, "it is a symbolic link");
  if (found.kind === "folder" || name === "") throw notWritable(shown, "it is a folder");
  if (found.kind === "special") throw notWritable(shown, `it is ${found.what}`);
  if (found.kind === "file") refuseShared(found.file.stats, shown);
}

export async function readPlace({ found, shown }: ResolvedPath): Promise<FileBytes | null> {
  if (found.kind !== "file") return null;
  const content = await readHeld(found.file, changedBytesMax);
  if (content === null) throw tooLarge(shown, found.file.stats.size);
  return content;
}

const versionLengthMin = 8;

/** Nobody overwrites what it has not seen: not what was there all along, and not what somebody else has made of it. */
async function refuseUnlessSeen(
  { wish, place, before }: { wish: FileChangeRequest; place: ResolvedPath; before: FileBytes },
  context: ToolContext,
  room: FileToolDeps,
): Promise<void> {
  const refuse = (seen: readonly string[]) =>
    conflict({ place, now: before, seen, wanted: wantedOf(wish, before.bytes, place.shown) }, room);
  if (wish.version !== undefined) {
    const named = wish.version.toLowerCase();
    if (named.length >= versionLengthMin && before.version.startsWith(named)) return;
    throw refuse([wish.version]);
  }
  const known = [...(await room.seen.of(context, place.real))];
  if (known.includes(before.version)) return;
  const versions = known.filter((version) => version !== null);
  if (versions.length > 0) throw refuse(versions);
  throw failure(
    "tool_error",
    `${place.shown} was not changed: it is there already (version ${shortVersion(before.version)}), and this run has ` +
      "not seen what is in it; read it first",
  );
}

/** Null where nothing can be made of what is there. */
function wantedOf({ make }: FileChangeRequest, now: Buffer, shown: string): Buffer | null {
  try {
    return make(now, shown, []);
  } catch {
    return null;
  }
}
