import type { Grant } from "@troupe/core";
import { mayWrite } from "@troupe/core/internal";
import { foldedName } from "./folded-name.ts";
import type { ResolvedPath } from "./resolve-path.ts";
import { failure } from "./workspace-path.ts";

/**
 * Names that control what agents and other programs of this machine do. No agent writes them, also if they do not exist
 * yet. They count anywhere in a workspace, as a folder or as a file.
 */
const protectedNames: readonly string[] = [".troupe", ".claude", ".mcp.json", ".vscode", ".idea", ".husky", ".envrc"];

/**
 * Files that shells and programs read at startup in a home. They matter if the workspace is a home or is copied into
 * one.
 */
const startUpNames: readonly string[] = [
  ...[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
  ],
  ...[".ssh", ".gnupg", ".gitconfig", ".pam_environment", ".xprofile", ".xinitrc"],
];

/**
 * The protected parts of a `.git`, in each repository of the workspace. Every commit changes the rest. A `commondir`
 * would name another repository, with its own settings and hooks.
 */
const protectedOfGit: readonly string[] = [
  "hooks",
  "config",
  "config.worktree",
  "commondir",
  "modules",
  "info/attributes",
];

/** The protected path that contains or equals a path; null for a path that agents may write. */
export function protectedPart(path: string): string | null {
  const segments = path.split("/").map(foldedName);
  for (const [i, segment] of segments.entries()) {
    const here = path.split("/").slice(0, i + 1);
    if (protectedNames.includes(segment) || startUpNames.includes(segment)) return here.join("/");
    if (segment !== ".git") continue;
    const below = segments.slice(i + 1).join("/");
    const found = protectedOfGit.find((name) => below === name || below.startsWith(`${name}/`));
    // A `.git` file names the repository: a new one would name another repository with its own hooks.
    if (found !== undefined || below === "") return [...here, ...(found ? [found] : [])].join("/");
  }
  return null;
}

/** The protected paths of a workspace's top folder, which a sandbox protects also while they do not exist. */
export const protectedAtTop: readonly string[] = [...protectedNames, ...protectedOfGit.map((name) => `.git/${name}`)];

/**
 * Throws unless an agent may write, make or delete a file. Both the given path and the real path count, so a link or a
 * missing folder does not lead around the protection.
 */
export function checkMayChange(path: Pick<ResolvedPath, "shown" | "real">, writes: Grant["writes"]): void {
  const { shown, real } = path;
  const protectedBy = protectedPart(shown) ?? protectedPart(real);
  if (protectedBy !== null) {
    throw failure(
      "permission",
      `${shown} was not changed: ${protectedBy} controls agents and programs of this machine, so no agent may write it; ` +
        "ask the user to change it",
    );
  }
  if (mayWrite(writes, real)) return;
  throw failure("permission", `${shown} was not changed: this agent may write ${allowedFolders(writes)}`);
}

function allowedFolders(writes: Grant["writes"]): string {
  if (writes.some((folders) => folders.length === 0)) return "nothing";
  return writes.map((folders) => `only in ${folders.join(", ")}`).join(", and there ");
}
