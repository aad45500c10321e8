import type { GitIdentity } from "../commands/git-identity.ts";
import { type HostGit, openHostGit } from "./host-git.ts";

/** What is in a worktree, as git sees it: what is ignored is not looked at. */
export interface Snapshots {
  /** Keeps all that is in it, as a commit on no branch. Null where that is as it was at the last one. */
  take(): Promise<string | null>;
  /** Commits what is not committed on top of what is checked out, and resolves to that; null where nothing is left. */
  commit(message: string): Promise<string | null>;
  readonly git: HostGit;
}

/**
 * Takes snapshots of a worktree without touching its index: what an agent has staged is its own business. The index for
 * this lies beside the worktree, where no agent can make anything else of it.
 */
export async function openSnapshots(folder: string, run: string, identity: GitIdentity): Promise<Snapshots> {
  const git = await openHostGit({ folder, identity });
  const env = { GIT_INDEX_FILE: `${folder}.index` };
  let last = await git.ask(["rev-parse", "HEAD^{tree}"]);

  const treeNow = async (): Promise<string> => {
    // What is committed is tracked, whatever is ignored since.
    await git.ask(["read-tree", "--reset", "HEAD"], env);
    // A file that cannot be read holds up no other.
    await git.run(["add", "--all", "--ignore-errors", "--", "."], env);
    return await git.ask(["write-tree"], env);
  };

  return {
    git,
    async take() {
      const tree = await treeNow();
      if (tree === last) return null;
      const commit = await git.ask(["commit-tree", tree, "-p", "HEAD", "-m", "troupe: after a call"]);
      await git.ask(["update-ref", `refs/troupe/${run}`, commit]);
      last = tree;
      return commit;
    },
    async commit(message) {
      const tree = await treeNow();
      if (tree === (await git.ask(["rev-parse", "HEAD^{tree}"]))) return null;
      return await git.ask(["commit-tree", tree, "-p", "HEAD", "-m", message]);
    },
  };
}

const message = "What an agent of troupe left uncommitted";

/** @returns why the worktree has to stay */
export async function commitAll(
  folder: string,
  { run, name, identity }: { run: string; name: string; identity: GitIdentity },
): Promise<string[]> {
  const snapshots = await openSnapshots(folder, run, identity);
  const filtered = await filteredFiles(snapshots.git);
  if (filtered.length > 0) {
    const some = filtered.slice(0, 5).join(", ");
    return [`${some} go through a filter of the repository, which is not run here: commit them yourself in ${folder}`];
  }
  // By plumbing alone: an agent may have left links where git would write what it keeps for itself.
  const commit = (await snapshots.commit(message)) ?? (await snapshots.git.ask(["rev-parse", "HEAD"]));
  await snapshots.git.ask(["update-ref", name, commit]);
  return [];
}

/** Changed files that would be stored as they are not. */
async function filteredFiles({ filters, ask }: HostGit): Promise<string[]> {
  if (filters.length === 0) return [];
  const changed = await ask(["diff", "-z", "--name-only", "--no-renames", "--ignore-submodules", "HEAD"]);
  const unknown = await ask(["ls-files", "-z", "--others", "--exclude-standard"]);
  const paths = `${changed}\0${unknown}`.split("\0").filter(Boolean);
  const filtered: string[] = [];
  for (let first = 0; first < paths.length; first += pathsAtOnce) {
    const fields = (await ask(["check-attr", "-z", "filter", "--", ...paths.slice(first, first + pathsAtOnce)])).split(
      "\0",
    );
    filtered.push(...fields.filter((_, at) => at % 3 === 0 && filters.includes(fields[at + 2] ?? "")));
  }
  return filtered;
}

const pathsAtOnce = 500;
