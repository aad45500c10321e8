import { realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { RunFailure } from "@troupe/core";
import { errorCodeOf, type RunErrorType } from "@troupe/core/internal";

/** The path of a workspace as given, and its real path. */
export async function rootsOf(workspace: string): Promise<readonly [string, string]> {
  try {
    return [workspace, await realpath(workspace)];
  } catch {
    throw failure("tool_error", `the workspace ${workspace} does not exist`);
  }
}

/** The segments of a model's path below the workspace. Throws for a path that cannot be in the workspace. */
export function segmentsOf(path: string, roots: readonly string[]): string[] {
  if (path === "") throw failure("params", "the path is empty");
  if (path.includes("\0")) throw failure("params", "the path has a NUL character in it");
  if (path.split(sep === "\\" ? /[\\/]/ : "/").includes("..")) throw outside(path, "it has .. in it");
  if (path.split(/[\\/]/).includes("..") && splitPath(path).includes("..")) throw outside(path, "it has .. in it");
  const below = belowRoot(path, roots);
  if (below === null) throw outside(path, "it is absolute and elsewhere");
  return splitPath(below);
}

/**
 * The part of an absolute path below one of the roots; null if it is below none. A relative path is returned as it is.
 */
export function belowRoot(path: string, roots: readonly string[]): string | null {
  if (!isAbsolute(path)) return path;
  const root = roots.find((candidate) => isWithin(candidate, path));
  return root === undefined ? null : relative(root, path);
}

export function splitPath(path: string): string[] {
  return path.split(sep === "\\" ? /[\\/]/ : "/").filter((segment) => segment !== "" && segment !== ".");
}

/** Whether an absolute path equals a folder or lies in it. */
export function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

export function outside(path: string, reason: string): RunFailure {
  return failure(
    "permission",
    `${JSON.stringify(path)} is not a path in the workspace: ${reason}; give one relative to the workspace`,
  );
}

/** The failure that a model sees for a failed system call. */
export function fileFailure(error: unknown, shown: string): RunFailure {
  const code = errorCodeOf(error) ?? "unknown error";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return failure("permission", `${shown}: this machine does not allow it (${code})`);
  }
  if (code === "ENOTDIR") return failure("params", `${shown}: a part of the path is a file, not a folder`);
  if (code === "ENAMETOOLONG") return failure("params", `${shown.slice(0, 80)}…: the name is too long`);
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG") {
    return failure(
      "tool_error",
      `${shown}: there is no room for it on this machine's disk (${code}); nothing was changed`,
    );
  }
  return failure("tool_error", `${shown}: the file system says ${code}`);
}

export function failure(type: RunErrorType, message: string, recoverable = false): RunFailure {
  return new RunFailure({ type, message, recoverable });
}
