import type { Grant } from "@troupe/core";
import { type FileChange, mayWrite } from "@troupe/core/internal";
import { protectedInRepository, protectedTable } from "./protected-table.ts";
import { type Protection, protectionOf } from "./protection.ts";
import type { ResolvedPath } from "./resolve-path.ts";
import { failure, splitPath } from "./workspace-path.ts";

/** The protected path that contains or equals a path; null for a path that commands may write. */
export function protectedPart(path: string): string | null {
  return closedProtection(path)?.path ?? null;
}

function closedProtection(path: string): Protection | null {
  const protection = protectionOf(path);
  return protection === null || protection.class === "marked" ? null : protection;
}

/** Whether no agent may write a path, also if a person would allow it. */
export function isNeverWritten(path: string): boolean {
  return protectionOf(path)?.class === "never";
}

/** Whether a file tool may write a path after a person has allowed it, and a command may not. */
export function isAskable(path: string): boolean {
  return protectionOf(path)?.class === "asks";
}

/** The mark of a change of a file that other programs run or obey later; empty for any other file. */
export function runsLaterMark(path: string): Pick<FileChange, "runsLater"> {
  const protection = protectionOf(path);
  return protection === null ? {} : { runsLater: protection.reason };
}

/**
 * The reason why a person has to allow a tool to write these paths, as the model gave them. Null if no path needs it, or
 * if the tool refuses them in any case.
 */
export function writeConsent(paths: readonly string[], workspace: string): string | null {
  for (const path of paths) {
    const below = path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
    const protection = protectionOf(splitPath(below).join("/"));
    if (protection?.class === "asks") return `it changes ${protection.path}, which ${protection.reason}`;
  }
  return null;
}

/** Names at a workspace's top that are protected by an empty folder while they do not exist. */
export const heldWhileMissing: readonly string[] = protectedTable.flatMap(({ names, isHeldWhileMissing }) =>
  isHeldWhileMissing ? names : [],
);

/** Parts of a repository that are protected by an empty file or folder while they do not exist. */
export const heldInRepository: readonly string[] = protectedInRepository
  .flatMap(({ names }) => names)
  .filter((name) => ["hooks", "config", "config.worktree", "modules", "info/attributes"].includes(name));

/**
 * Throws unless an agent may write, make or delete a file. Both the given path and the real path count, so a link or a
 * missing folder does not lead around the protection. Tools that call this ask by `writeConsent` first.
 */
export function checkMayChange(path: Pick<ResolvedPath, "shown" | "real">, writes: Grant["writes"]): void {
  const { shown, real } = path;
  const never = [shown, real].map(protectionOf).find((protection) => protection?.class === "never");
  if (never) {
    throw failure(
      "permission",
      `${shown} was not changed: ${never.path} ${never.reason}, so no agent may write it; ask the user to change it`,
    );
  }
  // A person was asked about the given path only.
  const hiddenByLink = closedProtection(shown) === null ? closedProtection(real) : null;
  if (hiddenByLink) {
    throw failure(
      "permission",
      `${shown} was not changed: it leads to ${real}, and ${hiddenByLink.path} ${hiddenByLink.reason}; give ${real} as the path, so that ` +
        "a person can be asked",
    );
  }
  if (mayWrite(writes, real)) return;
  throw failure("permission", `${shown} was not changed: this agent may write ${allowedFolders(writes)}`);
}

function allowedFolders(writes: Grant["writes"]): string {
  if (writes.some((folders) => folders.length === 0)) return "nothing";
  return writes.map((folders) => `only in ${folders.join(", ")}`).join(", and there ");
}
