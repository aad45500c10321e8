import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { type HeldFolder, holdPath, holdReal, holdRoot, readHeld } from "./held-folder.ts";

/** The repository of a linked git worktree, which lies outside the worktree. */
export interface LinkedRepository {
  /** The repository's `.git` folder, free of links. */
  common: string;
  /** The folder in it that belongs to this worktree. */
  own: string;
}

/** A repository whose `.git` folder is held. */
export interface HeldRepository extends LinkedRepository, Disposable {
  folder: HeldFolder;
}

const pathBytesMax = 8 * 1024;

/**
 * Finds the repository of a linked worktree; null for a workspace that is not one.
 *
 * @param root real path of the workspace, free of links

 */
export async function linkedRepository(root: string): Promise<LinkedRepository | null> {
  try {
    using folder = holdRoot(root);
    using held = holdRepository(folder, root);
    return held && { common: held.common, own: held.own };
  } catch {
    return null;
  }
}

/**
 * Finds and holds the repository of a linked worktree. A `.git` file may name any repository, so it counts only if that
 * repository lists this worktree. A folder that an attacker brings cannot arrange that.
 *
 * @param path real path of the workspace, free of links
 */
export function holdRepository(root: HeldFolder, path: string): HeldRepository | null {
  const [, named] = /^gitdir: (.+)$/.exec(readLine(root, ".git") ?? "") ?? [];
  const own = named === undefined ? null : realPath(resolve(path, named));
  if (own === null || basename(dirname(own)) !== "worktrees") return null;
  const common = dirname(dirname(own));
  const folder = basename(common) === ".git" ? holdReal(common) : null;
  if (folder === null) return null;
  if (isWorktreeOf(folder, { common, own }, path)) {
    return { common, own, folder, [Symbol.dispose]: () => folder[Symbol.dispose]() };
  }
  folder[Symbol.dispose]();
  return null;
}

function isWorktreeOf(folder: HeldFolder, { common, own }: LinkedRepository, path: string): boolean {
  const name = `worktrees/${basename(own)}`;
  const [gitdir, commondir] = [readLine(folder, `${name}/gitdir`), readLine(folder, `${name}/commondir`)];
  if (gitdir === null || commondir === null) return false;
  const worktreeFile = realPath(isAbsolute(gitdir) ? gitdir : resolve(own, gitdir));
  return worktreeFile === join(path, ".git") && realPath(resolve(own, commondir)) === common;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** The single line of a small file; null for any other file. */
function readLine(root: HeldFolder, path: string): string | null {
  using entry = holdPath(root, path);
  const content = entry && readHeld(entry, pathBytesMax);
  return content === null ? null : content.toString("utf8").replace(/\r?\n$/, "");
}
