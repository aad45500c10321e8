import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { foldedName } from "./folded-name.ts";
import { repositoryPieces } from "./protected-table.ts";
import { repositoryRuleOf } from "./protection.ts";
import type { ResolvedPath } from "./resolve-path.ts";
import { failure } from "./workspace-path.ts";

type WrittenPath = Pick<ResolvedPath, "shown" | "real" | "key">;

/**
 * Throws if a call would change the settings of a repository that is not named `.git`, or would make a folder such a
 * repository. Git uses a folder with certain names in it as a repository, and runs the hooks and the programs
 * that its `config` names. All files of the call count together, because several of them can make one repository.
 */
export async function refuseBareRepositories(files: readonly WrittenPath[]): Promise<void> {
  for (const file of files) {
    const names = file.real.split("/");
    for (const at of names.keys()) await refuseAt(names.slice(0, at), names.slice(at), file, files);
  }
}

async function refuseAt(
  folder: readonly string[],
  below: readonly string[],
  { shown, real, key }: WrittenPath,
  files: readonly WrittenPath[],
): Promise<void> {
  const rule = repositoryRuleOf(below);
  const isPiece = repositoryPieces.flat().some((piece) => foldedName(piece) === foldedName(below[0] ?? ""));
  if (!rule && !isPiece) return;
  const root = key.slice(0, key.length - real.length);
  const path = folder.join("/");
  const isThere = await existing(join(root, path));
  const isMade = (piece: string): boolean =>
    files.some((file) => isWithinFolded(file.real, [...folder, piece].join("/")));
  if (!repositoryPieces.some((pieces) => pieces.every((piece) => isThere(piece) || isMade(piece)))) return;
  const where = path === "" ? "the workspace" : path;
  if (rule) {
    throw failure(
      "permission",
      `${shown} was not changed: ${where} is a git repository, and ${rule.names.join("/")} ${rule.row.reason}, so no agent ` +
        "may write it; ask the user to change it",
    );
  }
  if (!repositoryPieces.some((pieces) => pieces.every(isThere))) {
    throw failure(
      "permission",
      `${shown} was not changed: it would make ${where} a git repository, whose settings git obeys; ask the user to run ` +
        "git init",
    );
  }
}

function isWithinFolded(path: string, folder: string): boolean {
  const [inner, outer] = [path, folder].map((one) => one.split("/").map(foldedName).join("/")) as [string, string];
  return inner === outer || inner.startsWith(`${outer}/`);
}

/** Tells of each piece of a repository whether it exists in a folder. */
async function existing(folder: string): Promise<(piece: string) => boolean> {
  const found = await Promise.all(
    repositoryPieces.flat().map(async (piece) => ((await lstat(join(folder, piece)).catch(() => null)) ? [piece] : [])),
  );
  const names = new Set(found.flat());
  return (piece) => names.has(piece);
}
