import { isAbsolute, join } from "node:path";
import { type FileBytes, readHeldFile } from "./file-version.ts";
import { identityOf } from "./held-folder.ts";
import { isHidden } from "./hidden-folders.ts";
import { type FolderAccess, type FoundEntry, type OpenFolder, openRoot } from "./open-folder.ts";
import { secretAt, secretWithIdentity } from "./secret-paths.ts";
import { belowRoot, failure, fileFailure, outside, rootsOf, segmentsOf, splitPath } from "./workspace-path.ts";

/**
 * The result of resolving a path in a workspace. It holds the folder and file that it found until it is disposed of.
 */
export interface ResolvedPath extends AsyncDisposable {
  /** The path as the model wrote it, normalised; `.` for the workspace itself. */
  shown: string;
  /** Path relative to the workspace, free of links, with `/`; empty for the workspace itself. */
  real: string;
  /** The folder itself if the path is a folder, otherwise the nearest existing parent. */
  folder: OpenFolder;
  /** The entry. Never a link: links are followed. */
  found: Exclude<FoundEntry, { kind: "link" }>;
  /** The missing names below `folder`, ending with the last name of the path. Empty for an existing entry. */
  missing: string[];
  /** Whether the last segment of the path is a symbolic link (to another path of the workspace). */
  isLink: boolean;
  /** Last name of the real path; empty for the workspace itself. */
  name: string;
  /** Equal for the same file, whichever path leads to it: the workspace's real path and `real`. */
  key: string;
}

const linksMax = 40;

const readBytesMax = 32 * 1024 * 1024;

/** A segment that is not resolved yet. `ofLink`: it comes from a link's target. */
interface PathStep {
  name: string;
  ofLink: boolean;
}

/**
 * Resolves a model's path inside a workspace. It refuses `..`, absolute paths elsewhere and links that lead out, with a
 * `RunFailure`. It goes step by step through folders that stay open, so that no process can swap in a link meanwhile.
 *
 * @example
 * await using resolved = await resolvePath(workspace, "docs/a.md");
 * if (resolved.found.kind === "file") await using file = await resolved.found.file.open();

 */
export async function resolvePath(workspace: string, path: string, holding?: FolderAccess): Promise<ResolvedPath> {
  const roots = await rootsOf(workspace);
  const segments = segmentsOf(path, roots);
  const shown = segments.join("/") || ".";
  const open: OpenFolder[] = [];
  try {
    open.push(await openRoot(workspace, holding));
    const walk: PathWalk = { roots, shown, open, links: 0, isLink: false };
    const end = await walkOn(
      walk,
      segments.map((name) => ({ name, ofLink: false })),
    );
    const resolved = await finishWalk(end, walk);
    const reason = hiddenReason(roots[1], resolved);
    if (reason === null) return resolved;
    await resolved[Symbol.asyncDispose]();
    throw reason === ownFolder
      ? outside(path, reason)
      : failure("permission", `${shown} is not visible to agents: ${reason}`);
  } catch (error) {
    await closeAll(open);
    throw error instanceof Error && error.name === "RunFailure" ? error : fileFailure(error, shown);
  }
}

const ownFolder = "it is in troupe's own folder";

/** Why no agent may see an entry; null if agents may see it. */
function hiddenReason(root: string, { real, found }: ResolvedPath): string | null {
  const path = join(root, real);
  if (isHidden(root, path)) return ownFolder;
  const isLinked = found.kind === "file" && found.file.stats.nlink > 1;
  const secret = secretAt(root, path) ?? (isLinked ? secretWithIdentity(root, identityOf(found.file.stats)) : null);
  return secret && `it is for ${secret.reason} of a home`;
}

/**
 * Opens a folder of a workspace, to list it or to start a program in it. `path` is for this process and the programs
 * that it starts. `real` is the path in the workspace, for a process that sees the workspace elsewhere.
 *
 * @example
 * await using folder = await openFolder(workspace, "packages/a");
 * spawn("make", { cwd: folder.path });

 */
export async function openFolder(workspace: string, path: string, holding?: FolderAccess): Promise<OpenFolder> {
  const resolved = await resolvePath(workspace, path, holding);
  const { found, shown } = resolved;
  if (found.kind === "folder") return found.folder;
  await resolved[Symbol.asyncDispose]();
  throw failure("params", `${shown} is not a folder of the workspace`);
}

/**
 * Resolves a path to names, for a sandboxed program that needs a name. The entry may change before the program uses it.
 */
export async function locatePath(
  workspace: string,
  path: string,
): Promise<Pick<ResolvedPath, "shown" | "real" | "isLink">> {
  await using resolved = await resolvePath(workspace, path);
  const { shown, real, isLink } = resolved;
  return { shown, real, isLink };
}

/**
 * The whole content of a file of a workspace. Rejects with a `RunFailure` if it is not a file or is larger than
 * `bytesMax`.
 */
export async function readWorkspaceFile(
  workspace: string,
  path: string,
  { bytesMax = readBytesMax, holding }: { bytesMax?: number; holding?: FolderAccess } = {},
): Promise<FileBytes & { real: string }> {
  await using resolved = await resolvePath(workspace, path, holding);
  const { found, shown, real } = resolved;
  if (found.kind !== "file") throw failure("params", `${shown} is not a file of the workspace`);
  const content = await readHeldFile(found.file, bytesMax).catch((error: unknown) => {
    throw fileFailure(error, shown);
  });
  if (content === null) throw failure("params", `${shown} is larger than ${bytesMax} bytes`);
  return { ...content, real };
}

interface PathWalk {
  roots: readonly [string, string];
  shown: string;
  /** The open folders on the way, from the workspace on. */
  open: OpenFolder[];
  links: number;
  isLink: boolean;
}

interface WalkEnd {
  found: ResolvedPath["found"];
  /** The unresolved rest of the path: the missing names, or the name of the file. */
  rest: string[];
}

async function walkOn(walk: PathWalk, first: readonly PathStep[]): Promise<WalkEnd> {
  const steps = [...first];
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const here = walk.open.at(-1) as OpenFolder;
    if (step.name === "..") {
      if (walk.open.length === 1) throw outside(walk.shown, "a symbolic link in it leads out");
      await walk.open.pop()?.[Symbol.asyncDispose]();
      continue;
    }
    const found = await here.lookUp(step.name);
    if (found.kind === "folder") walk.open.push(found.folder);
    else if (found.kind === "link") steps.unshift(...(await follow(found.target, steps, walk)));
    else return endAt(found, [step, ...steps], walk);
  }
  return { found: { kind: "folder", folder: walk.open.at(-1) as OpenFolder }, rest: [] };
}

/** The target's segments come before the rest of the path. An absolute target restarts at the workspace. */
async function follow(target: string, rest: readonly PathStep[], walk: PathWalk): Promise<PathStep[]> {
  walk.links += 1;
  if (walk.links > linksMax) throw outside(walk.shown, "it goes through a symbolic link that leads nowhere");
  if (rest.every(({ ofLink }) => ofLink)) walk.isLink = true;
  const below = belowRoot(target, walk.roots);
  if (below === null) throw outside(walk.shown, "a symbolic link in it leads out");
  if (isAbsolute(target)) await closeAll(walk.open.splice(1));
  return splitPath(below).map((name) => ({ name, ofLink: true }));
}

async function endAt(
  found: Exclude<FoundEntry, { kind: "link" | "folder" }>,
  steps: PathStep[],
  walk: PathWalk,
): Promise<WalkEnd> {
  const rest = steps.map(({ name }) => name);
  if (found.kind === "missing") {
    if (steps.some(({ ofLink }) => ofLink))
      throw outside(walk.shown, "it goes through a symbolic link that leads nowhere");
    return { found, rest };
  }
  if (steps.length > 1) {
    if (found.kind === "file") await found.file[Symbol.asyncDispose]();
    throw Object.assign(new Error("no folder"), { code: "ENOTDIR" });
  }
  return { found, rest };
}

async function finishWalk({ found, rest }: WalkEnd, { roots, shown, open, isLink }: PathWalk): Promise<ResolvedPath> {
  const folder = open.at(-1) as OpenFolder;
  const real = [folder.real, ...rest].filter((part) => part !== "").join("/");
  await closeAll(open.slice(0, -1));
  return {
    shown,
    real,
    folder,
    found,
    missing: found.kind === "missing" ? rest : [],
    isLink,
    name: real.slice(real.lastIndexOf("/") + 1),
    key: `${roots[1]}/${real}`,
    async [Symbol.asyncDispose]() {
      if (found.kind === "file") await found.file[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function closeAll(folders: readonly OpenFolder[]): Promise<void> {
  await Promise.all(folders.map((folder) => folder[Symbol.asyncDispose]()));
}
