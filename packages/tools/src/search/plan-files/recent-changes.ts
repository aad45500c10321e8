import { gitEnvironment } from "../../commands/git-environment.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { type GoalTerm, hasTerm, wordsOf } from "./goal-terms.ts";

/** What has happened to files of late. */
export interface History {
  /** How often a file was changed. */
  timesOf(path: string): number;
  /** From 1 for what has not been touched to 1.2 for what is changed again and again. */
  liveliness(path: string): number;
  /** For each term that a commit which changed the file has in its subject: the most telling of them. */
  subjectsOf(path: string, terms: readonly GoalTerm[]): { term: GoalTerm; subject: string; share: number }[];
}

interface Commit {
  subject: string;
  words: string[];
  /** Of how many files it speaks: what is said of one of a hundred says little. */
  share: number;
}

export interface RecentChangesOptions {
  sandbox: Sandbox;
  workspace: string;
  signal: AbortSignal;
  timeoutMs: number;
}

const commitsMax = 200;
const logBytesMax = 2 * 1024 * 1024;
/** A commit of more is a move or a format: it says nothing of its files. */
const filesOfCommitMax = 60;

const noHistory: History = { timesOf: () => 0, liveliness: () => 1, subjectsOf: () => [] };

/** What the last commits changed; nothing where there is no repository, no git, or no time. */
export async function recentChanges({ sandbox, workspace, signal, timeoutMs }: RecentChangesOptions): Promise<History> {
  try {
    const { stdout } = await sandbox.run({
      argv: [
        "git",
        "log",
        `--max-count=${commitsMax}`,
        "--no-merges",
        "--no-show-signature",
        "--relative",
        "--name-only",
        "--format=%x01%s",
      ],
      workspace,
      writes: [[]],
      env: gitEnvironment({ workspace, configKeys: [] }),
      timeoutMs,
      signal,
      captureBytesMax: logBytesMax,
    });
    return historyOf(stdout);
  } catch {
    return noHistory;
  }
}

/** Of `git log --name-only --format=%x01%s`. */
export function historyOf(log: string): History {
  const commits = new Map<string, Commit[]>();
  for (const entry of log.split("\u0001").slice(1)) {
    const [subject = "", ...lines] = entry.split("\n");
    const paths = lines.filter((line) => line !== "");
    if (paths.length === 0 || paths.length > filesOfCommitMax) continue;
    const commit: Commit = { subject, words: wordsOf(subject), share: 1 / Math.sqrt(paths.length) };
    for (const path of paths) commits.set(path, [...(commits.get(path) ?? []), commit]);
  }
  const timesOf = (path: string): number => commits.get(path)?.length ?? 0;
  return {
    timesOf,
    liveliness: (path) => 1 + 0.2 * Math.min(1, Math.log2(1 + timesOf(path)) / 4),
    subjectsOf: (path, terms) =>
      terms.flatMap((term) => {
        const best = (commits.get(path) ?? [])
          .filter(({ words }) => hasTerm(words, term))
          .reduce<Commit | null>((most, commit) => (most !== null && most.share >= commit.share ? most : commit), null);
        return best ? [{ term, subject: best.subject, share: best.share }] : [];
      }),
  };
}
