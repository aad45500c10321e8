import type { Grant } from "@troupe/core";
import { mayWrite } from "@troupe/core/internal";
import type { ResolvedPath } from "./resolve-path.ts";
import { failure } from "./workspace-path.ts";

/**
 * What decides what agents and other programs of this machine do: no agent writes it, also where it does not exist yet.
 * Names that hold wherever they occur in a workspace, as a folder or as a file.
 */
const protectedNames: readonly string[] = [".troupe", ".claude", ".mcp.json", ".vscode", ".idea", ".husky", ".envrc"];

/** What shells and programs read when somebody works in a home: it matters where a workspace is one, or is copied to one. */
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
 * What of a `.git` is protected, in any of the workspace's repositories; the rest of it changes with each commit. A
 * `commondir` would name another repository, with a configuration and hooks of its own.
 */
const protectedOfGit: readonly string[] = [
  "hooks",
  "config",
  "config.worktree",
  "commondir",
  "modules",
  "info/attributes",
];

/** The protected part of a workspace that a path is in, or is; null for one that may be written. */
export function protectedPart(path: string): string | null {
  const segments = path.split("/").map(folded);
  for (const [i, segment] of segments.entries()) {
    const here = path.split("/").slice(0, i + 1);
    if (protectedNames.includes(segment) || startUpNames.includes(segment)) return here.join("/");
    if (segment !== ".git") continue;
    const below = segments.slice(i + 1).join("/");
    const found = protectedOfGit.find((name) => below === name || below.startsWith(`${name}/`));
    // A `.git` that is a file says where the repository is: written anew, it would name another with hooks of its own.
    if (found !== undefined || below === "") return [...here, ...(found ? [found] : [])].join("/");
  }
  return null;
}

/**
 * Some file systems take names that look alike for one: other cases, other forms of a letter, characters that are not
 * seen. Whatever any of them would find by a name is that name here.
 */
function folded(segment: string): string {
  return segment
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase();
}

/** The protected paths of a workspace's top folder, which a sandbox has to keep from being made or changed. */
export const protectedAtTop: readonly string[] = [...protectedNames, ...protectedOfGit.map((name) => `.git/${name}`)];

/**
 * Throws unless an agent may write, make or delete the file at a place. What is protected is so by the name that was
 * given and by the way that it really goes, so that no link and no missing folder leads around it.
 */
export function checkMayChange(place: Pick<ResolvedPath, "shown" | "real">, writes: Grant["writes"]): void {
  const { shown, real } = place;
  const protectedBy = protectedPart(shown) ?? protectedPart(real);
  if (protectedBy !== null) {
    throw failure(
      "permission",
      `${shown} was not changed: ${protectedBy} decides what agents and programs of this machine do, so that no agent writes ` +
        "it; ask a person to change it",
    );
  }
  if (mayWrite(writes, real)) return;
  throw failure("permission", `${shown} was not changed: this agent may write ${allowedFolders(writes)}`);
}

function allowedFolders(writes: Grant["writes"]): string {
  if (writes.some((folders) => folders.length === 0)) return "nothing";
  return writes.map((folders) => `only in ${folders.join(", ")}`).join(", and there ");
}
