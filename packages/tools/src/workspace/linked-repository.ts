import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";

/** The repository of a linked git worktree, which is elsewhere. */
export interface LinkedRepository {
  /** Its `.git` folder, without a link in it. */
  common: string;
  /** What of it is the worktree's own. */
  own: string;
}

const pathBytesMax = 8 * 1024;

/**
 * The repository that a workspace is a linked worktree of; null for one that is none. A `.git` file may say anything: it
 * counts only where the repository knows of this very worktree, which nobody can arrange who only brings a folder.
 *
 * @param root without a link in it
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

/** The one line of a small file; null for anything else. */
async function readLine(path: string): Promise<string | null> {
  const text = await readFile(path, "utf8").catch(() => null);
  return text === null || text.length > pathBytesMax ? null : text.replace(/\r?\n$/, "");
}
