import { realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { RunFailure } from "@troupe/core";
import { errorCodeOf, type RunErrorType } from "@troupe/core/internal";

/** The names by which a workspace is known: as it was given, and free of links. The second comes last. */
export async function rootsOf(workspace: string): Promise<readonly [string, string]> {
  try {
    return [workspace, await realpath(workspace)];
  } catch {
    throw failure("tool_error", `the workspace ${workspace} does not exist`);
  }
}

/** The segments of a model's path below the workspace. Throws for what cannot be a path in it, whatever exists there. */
export function segmentsOf(path: string, roots: readonly string[]): string[] {
  if (path === "") throw failure("params", "the path is empty");
  if (path.includes("\0")) throw failure("params", "the path has a NUL character in it");
  if (path.split(sep === "\\" ? /[\\/]/ : "/").includes("..")) throw outside(path, "it has .. in it");
  if (path.split(/[\\/]/).includes("..") && splitPath(path).includes("..")) throw outside(path, "it has .. in it");
  const below = belowRoot(path, roots);
  if (below === null) throw outside(path, "it is absolute and elsewhere");
  return splitPath(below);
}

/** What of an absolute path is below one of the roots; null where it is below none. A relative path is as it was. */
export function belowRoot(path: string, roots: readonly string[]): string | null {
  if (!isAbsolute(path)) return path;
  const root = roots.find((candidate) => isWithin(candidate, path));
  return root === undefined ? null : relative(root, path);
}

export function splitPath(path: string): string[] {
  return path.split(sep === "\\" ? /[\\/]/ : "/").filter((segment) => segment !== "" && segment !== ".");
}

/** Whether an absolute path is a folder, or in it. */
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

/** What to tell a model of a system call that failed. */
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
