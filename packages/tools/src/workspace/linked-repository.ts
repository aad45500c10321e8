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
  const said = await lineOf(join(root, ".git"));
  const [, named] = /^gitdir: (.+)$/.exec(said ?? "") ?? [];
  if (named === undefined) return null;
  const own = await realpath(resolve(root, named)).catch(() => null);
  if (own === null || basename(dirname(own)) !== "worktrees") return null;
  const common = dirname(dirname(own));
  const [back, shared] = await Promise.all([lineOf(join(own, "gitdir")), lineOf(join(own, "commondir"))]);
  if (basename(common) !== ".git" || back === null || shared === null) return null;
  const [known, parent] = await Promise.all([
    realpath(isAbsolute(back) ? back : resolve(own, back)).catch(() => null),
    realpath(resolve(own, shared)).catch(() => null),
  ]);
  return known === join(root, ".git") && parent === common ? { common, own } : null;
}

/** The one line of a small file; null for anything else. */
async function lineOf(path: string): Promise<string | null> {
  const text = await readFile(path, "utf8").catch(() => null);
  return text === null || text.length > pathBytesMax ? null : text.replace(/\r?\n$/, "");
}
