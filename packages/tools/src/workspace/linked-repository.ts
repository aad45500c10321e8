import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";

/** The repository of a linked git worktree, which lies outside the worktree. */
export interface LinkedRepository {
  /** The repository's `.git` folder, free of links. */
  common: string;
  /** The folder in it that belongs to this worktree. */
  own: string;
}

const pathBytesMax = 8 * 1024;

/**
 * Finds the repository of a linked worktree; null for a workspace that is not one. A `.git` file may name any
 * repository, so it counts only if that repository lists this worktree. A folder that an attacker brings cannot arrange
 * that.
 *
 * @param root real path of the workspace, free of links

 */
export async function linkedRepository(root: string): Promise<LinkedRepository | null> {
  const gitFile = await readLine(join(root, ".git"));
  const [, named] = /^gitdir: (.+)$/.exec(gitFile ?? "") ?? [];
  if (named === undefined) return null;
  const own = await realpath(resolve(root, named)).catch(() => null);
  if (own === null || basename(dirname(own)) !== "worktrees") return null;
  const common = dirname(dirname(own));
  const [gitdirLine, commondirLine] = await Promise.all([
    readLine(join(own, "gitdir")),
    readLine(join(own, "commondir")),
  ]);
  if (basename(common) !== ".git" || gitdirLine === null || commondirLine === null) return null;
  const [worktreeFile, commonPath] = await Promise.all([
    realpath(isAbsolute(gitdirLine) ? gitdirLine : resolve(own, gitdirLine)).catch(() => null),
    realpath(resolve(own, commondirLine)).catch(() => null),
  ]);
  return worktreeFile === join(root, ".git") && commonPath === common ? { common, own } : null;
}

/** The single line of a small file; null for any other file. */
async function readLine(path: string): Promise<string | null> {
  const text = await readFile(path, "utf8").catch(() => null);
  return text === null || text.length > pathBytesMax ? null : text.replace(/\r?\n$/, "");
}
