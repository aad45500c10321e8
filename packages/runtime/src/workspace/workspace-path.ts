import { lstat, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { type RunErrorType, RunFailure } from "@troupe/core";

export interface WorkspacePath {
  /** Free of links, except where the last segment does not exist yet. */
  absolute: string;
  /** As the model names it, tidied; with `/` on every system. */
  shown: string;
  /** Whether the path's last segment is a symbolic link (to somewhere in the workspace). */
  isLink: boolean;
}

/**
 * The place that a model's path means, which is in the workspace or nowhere: `..`, absolute paths elsewhere and links
 * that lead out are refused with a `RunFailure`. The file itself need not exist.
 *
 * Between this check and the use of its answer, somebody who can write in the workspace can still swap a folder for a
 * link.
 */
export async function resolveInWorkspace(workspace: string, path: string): Promise<WorkspacePath> {
  const root = await realpath(workspace).catch(() => {
    throw failure("tool_error", `the workspace ${workspace} does not exist`);
  });
  const segments = segmentsOf(path, [workspace, root]);
  const shown = segments.join("/") || ".";
  let absolute = root;
  let isLink = false;
  for (const [i, segment] of segments.entries()) {
    const here = join(absolute, segment);
    const kind = await kindOf(here, shown);
    if (kind === "missing") return { absolute: join(absolute, ...segments.slice(i)), shown, isLink: false };
    isLink = kind === "link";
    absolute = isLink ? await followLink(here, { root, shown }) : here;
  }
  return { absolute, shown, isLink };
}

/** The segments below the workspace. Throws for what cannot be a path in it, whatever exists there. */
function segmentsOf(path: string, roots: readonly string[]): string[] {
  if (path === "") throw failure("params", "the path is empty");
  if (path.includes("\0")) throw failure("params", "the path has a NUL character in it");
  const segments = relativeTo(path, roots)
    .split(sep === "\\" ? /[\\/]/ : "/")
    .filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw outside(path, "it has .. in it");
  return segments;
}

function relativeTo(path: string, roots: readonly string[]): string {
  if (!isAbsolute(path)) return path;
  if (path.split(/[\\/]/).includes("..")) throw outside(path, "it has .. in it");
  const root = roots.find((candidate) => isWithin(candidate, path));
  if (root === undefined) throw outside(path, "it is absolute and elsewhere");
  return relative(root, path);
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

async function kindOf(path: string, shown: string): Promise<"missing" | "link" | "other"> {
  try {
    return (await lstat(path)).isSymbolicLink() ? "link" : "other";
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "missing";
    throw fileFailure(error, shown);
  }
}

async function followLink(path: string, { root, shown }: { root: string; shown: string }): Promise<string> {
  let target: string;
  try {
    target = await realpath(path);
  } catch {
    throw outside(shown, "it goes through a symbolic link that leads nowhere");
  }
  if (!isWithin(root, target)) throw outside(shown, "a symbolic link in it leads out");
  return target;
}

function outside(path: string, reason: string): RunFailure {
  return failure(
    "permission",
    `${JSON.stringify(path)} is not a path in the workspace: ${reason}; give one relative to the workspace`,
  );
}

/** What to tell a model of a system call that failed. */
export function fileFailure(error: unknown, shown: string): RunFailure {
  const code = codeOf(error) ?? "unknown error";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return failure("permission", `${shown}: this machine does not allow it (${code})`);
  }
  if (code === "ENOTDIR") return failure("params", `${shown}: a part of the path is a file, not a folder`);
  if (code === "ENAMETOOLONG") return failure("params", `${shown.slice(0, 80)}…: the name is too long`);
  return failure("tool_error", `${shown}: the file system says ${code}`);
}

export function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

function failure(type: RunErrorType, message: string): RunFailure {
  return new RunFailure({ type, message, recoverable: false });
}
