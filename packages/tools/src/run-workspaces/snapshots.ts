import type { GitIdentity } from "../commands/git-identity.ts";
import { type HostGit, openHostGit } from "./host-git.ts";

/** The contents of a worktree as git sees them, without ignored files. */
export interface Snapshots {
  /** Saves all contents as a commit on no branch. Null if they are the same as in the last snapshot. */
  take(): Promise<string | null>;
  /** Saves all contents as a commit on top of HEAD, and lets a reference name it. Null if they are the same as before. */
  commit(message: string, reference: string): Promise<string | null>;
  readonly git: HostGit;
}

/**
 * Takes snapshots of a worktree without touching its index, because staged changes belong to the agent. The snapshot
 * index lies beside the worktree, where agents cannot replace it.
 */
export async function openSnapshots(folder: string, run: string, identity: GitIdentity): Promise<Snapshots> {
  const git = await openHostGit({ folder, identity, question: ["rev-parse", "HEAD^{tree}"] });
  const env = { GIT_INDEX_FILE: `${folder}.index` };
  let last = git.answered();
  const commit: Snapshots["commit"] = async (message, reference) => {
    const [tree = "", made = null] = (await git.ask([last, message, reference], { env, script: saveTree })).split("\n");
    last = tree;
    return made;
  };
  return { git, commit, take: () => commit("troupe: after a call", `refs/troupe/${run}`) };
}

/**
 * Prints the id of the files as a tree. If it differs from `$1`, makes a commit with the message `$2`, prints its id, and
 * lets the reference `$3` name it. Starting from HEAD keeps committed files tracked, also if they are ignored since. An
 * unreadable file does not stop the others.
 */
const saveTree = `
  git read-tree --reset HEAD || exit
  git add --all --ignore-errors -- .
  tree=$(git write-tree) || exit
  printf '%s\\n' "$tree"
  [ "$tree" != "$1" ] || exit 0
  commit=$(git commit-tree "$tree" -p HEAD -m "$2") || exit
  printf '%s\\n' "$commit"
  exec git update-ref "$3" "$commit"
`;

const message = "Uncommitted changes of a troupe agent";

/** Commits all uncommitted changes of a worktree. @returns why the worktree has to stay, or nothing */
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
  // Uses plumbing commands only: an agent may have left links at paths that porcelain commands write.
  const commit = await snapshots.commit(message, name);
  if (commit === null) await snapshots.git.ask(["update-ref", name, "HEAD"]);
  return [];
}

/** Changed files that a filter of the repository would transform. Troupe does not run filters. */
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
