import type { RunFailure, ToolContext } from "@troupe/core";
import type { FilePlan } from "@troupe/core/internal";
import { refuseBareRepositories } from "../workspace/bare-repository.ts";
import {
  changedBytesMax,
  type FileTarget,
  notWritable,
  refuseHardLinked,
  tooLarge,
} from "../workspace/change-files.ts";
import { type FileBytes, readHeldFile, shortVersion, versionOf } from "../workspace/file-version.ts";
import { checkMayChange } from "../workspace/protected-paths.ts";
import { type ResolvedPath, resolvePath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";
import { conflict } from "./conflict.ts";
import { type StateBefore, stateBefore } from "./content-before.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";

/** The change that a call requests for one file. */
export interface FileChangeRequest {
  path: string;
  /** Path of another file of the call whose content `make` gets. @default the file itself */
  from?: string;
  /** The version that the change applies to, as the model gave it. @default the version that the run saw last */
  version?: string | undefined;
  /** Returns the new content, or null to delete the file. Throws a `RunFailure` when the change is not possible. */
  make(current: Buffer | null, shown: string, notes: string[]): Buffer | null;
}

/** One file, before and after its change. */
export interface PlannedFile {
  shown: string;
  real: string;
  /** Without bytes where only the journal knows the version. */
  before: { version: string; bytes: Buffer | null } | null;
  after: FileBytes | null;
  /** Notes for the model on how the change was made. */
  notes: string[];
  /** The state that an undo restores besides the content. */
  state: StateBefore;
}

/** Plans the changes of all files of a call from their current content. Throws when one of them is not allowed. */
export async function planFiles(
  requests: readonly FileChangeRequest[],
  context: ToolContext,
  deps: FileToolDeps,
): Promise<PlannedFile[]> {
  await deps.reservations.reserve(context, await keysOf(requests, context));
  await using files = await resolveFiles(requests, context);
  const contents = await Promise.all(files.all.map(readResolved));
  // Awaited here, because the files are closed at the end of this scope.
  return await Promise.all(
    files.all.map(async (file, i) => {
      const request = requests[i] as FileChangeRequest;
      const before = contents[i] ?? null;
      if (before !== null) await refuseUnlessSeen({ request, file, before }, context, deps);
      else if (request.version !== undefined) throw await conflict({ file, now: null, seen: [request.version] }, deps);
      const source =
        request.from === undefined
          ? before
          : (contents[requests.findIndex(({ path }) => path === request.from)] ?? null);
      if (request.from !== undefined && before !== null) throw notWritable(file.shown, "the file already exists");
      const notes: string[] = [];
      const bytes = request.make(source?.bytes ?? null, file.shown, notes);
      if (bytes !== null && bytes.length > changedBytesMax) throw tooLarge(file.shown, bytes.length);
      const after = bytes === null ? null : { bytes, version: versionOf(bytes) };
      return { shown: file.shown, real: file.real, before, after, notes, state: stateBefore(file) };
    }),
  );
}

async function keysOf(requests: readonly FileChangeRequest[], context: ToolContext): Promise<string[]> {
  await using files = await resolveFiles(requests, context);
  return files.all.map(({ key }) => key);
}

/** The plan as the journal records it. */
export function filePlan(files: readonly PlannedFile[]): FilePlan[] {
  return files.map(({ real, before, after, state }) => ({
    path: real,
    before: versionIn(before),
    after: versionIn(after),
    ...state,
  }));
}

export function versionIn(content: { version: string } | null): string | null {
  return content?.version ?? null;
}

/** The write that changes a file. Empty where the file already has the new content. */
export function targetOf(file: ResolvedPath, planned: PlannedFile | undefined): FileTarget[] {
  if (planned?.real !== file.real)
    throw failure("tool_error", `${file.shown} was moved while it was being changed; try again`);
  const before = versionIn(planned.before);
  return before === versionIn(planned.after) ? [] : [{ path: file, before, after: planned.after?.bytes ?? null }];
}

export interface ResolvedFiles extends AsyncDisposable {
  all: ResolvedPath[];
}

/** Resolves the files of a call. Throws for a file that may not be changed or that is named twice. */
export async function resolveFiles(
  requests: readonly FileChangeRequest[],
  { workspace, grant }: ToolContext,
): Promise<ResolvedFiles> {
  const all: ResolvedPath[] = [];
  const close = async (): Promise<void> => {
    for (const file of all) await file[Symbol.asyncDispose]();
  };
  try {
    for (const { path } of requests) {
      const file = await resolvePath(workspace, path);
      all.push(file);
      checkMayChange(file, grant.writes);
      refuseUnlessFile(file);
      if (all.some((other) => other !== file && other.key.toLowerCase() === file.key.toLowerCase())) {
        throw failure("params", `${file.shown} is named twice: give all changes of a file together`);
      }
    }
    await refuseBareRepositories(all);
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
  if (found.kind === "file") refuseHardLinked(found.file.stats, shown);
}

/** The content of a file. Null where it does not exist. */
export async function readResolved({ found, shown }: ResolvedPath): Promise<FileBytes | null> {
  if (found.kind !== "file") return null;
  const content = await readHeldFile(found.file, changedBytesMax);
  if (content === null) throw tooLarge(shown, found.file.stats.size);
  return content;
}

const versionLengthMin = 8;

/** Refuses to overwrite content that the run has not seen: an unread file, or a change by another writer. */
async function refuseUnlessSeen(
  { request, file, before }: { request: FileChangeRequest; file: ResolvedPath; before: FileBytes },
  context: ToolContext,
  deps: FileToolDeps,
): Promise<void> {
  const refuse = (seen: readonly string[]): Promise<RunFailure> =>
    conflict({ file, now: before, seen, wanted: wantedContent(request, before.bytes, file.shown) }, deps);
  if (request.version !== undefined) {
    const expected = request.version.toLowerCase();
    if (expected.length >= versionLengthMin && before.version.startsWith(expected)) return;
    throw await refuse([request.version]);
  }
  const seen = [...(await deps.seen.of(context, file.real))];
  if (seen.includes(before.version)) return;
  const versions = seen.filter((version) => version !== null);
  if (versions.length > 0) throw await refuse(versions);
  throw failure(
    "tool_error",
    `${file.shown} was not changed: it already exists (version ${shortVersion(before.version)}), and this run has not ` +
      "seen its content; read it first",
  );
}

/** Null where the change is not possible with the current content. */
function wantedContent({ make }: FileChangeRequest, current: Buffer, shown: string): Buffer | null {
  try {
    return make(current, shown, []);
  } catch {
    return null;
  }
}
