import { gitEnvironment } from "../../commands/git-environment.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { RipgrepResult } from "../ripgrep.ts";
import { escapeRegex, parseCounts, parseMatches } from "../ripgrep-output.ts";
import { type Goal, type GoalTerm, hasTerm, wordsOf } from "./goal.ts";

/** The search results for a goal. */
export interface Evidence {
  /** All files that are not ignored. */
  paths: string[];
  /** For each searched term, the number of matches in each file. */
  counts: ReadonlyMap<GoalTerm, ReadonlyMap<string, number>>;
  /** For each file, the names of definitions and headings that contain a term. */
  definitions: ReadonlyMap<string, readonly string[]>;
  /** Descriptions of the searches that ran out of time. */
  missed: string[];
}

/** Runs ripgrep within the time limit of a call. Returns null when the time is up. */
export type TimedSearch = (args: readonly string[], captureBytesMax: number) => Promise<RipgrepResult | null>;

const countBytesMax = 8 * 1024 * 1024;
const definitionBytesMax = 4 * 1024 * 1024;
/** More matches in a file make no difference. */
const matchesPerFileMax = 100;
/** While one search starts, the others run. */
const searchesAtOnce = 3;

/** Counts the matches of each term in each file. */
export async function countTerms({ terms }: Goal, search: TimedSearch): Promise<Pick<Evidence, "counts" | "missed">> {
  const counts = new Map<GoalTerm, ReadonlyMap<string, number>>();
  const missed: string[] = [];
  for (let from = 0; from < terms.length; from += searchesAtOnce) {
    const batch = terms.slice(from, from + searchesAtOnce);
    const results = await Promise.all(
      batch.map(({ pattern }) => {
        const args = ["--count-matches", "--with-filename", "--ignore-case", `--max-count=${matchesPerFileMax}`];
        return search([...args, `--regexp=${pattern}`, "--", "."], countBytesMax);
      }),
    );
    for (const [i, term] of batch.entries()) {
      const result = results[i];
      if (result) counts.set(term, new Map(parseCounts(result.stdout).map(({ path, count }) => [path, count])));
      else missed.push(JSON.stringify(term.word));
    }
  }
  return { counts, missed: missed.length > 0 ? [`the words ${missed.join(", ")}`] : [] };
}

/** Matches a keyword and a name in many languages, approximately. Variables count only at the top level of a file. */
function definitionPattern(terms: readonly GoalTerm[]): string {
  const names = terms.map(({ pattern }) => pattern).join("|");
  const keywords =
    "function\\*?|class|interface|type|enum|def|fn|func|struct|trait|impl|module|namespace|object|record|protocol|describe";
  return [
    `\\b(?:${keywords})\\s+(?:\\([^)\\n]{0,80}\\)\\s*)?(?P<a>\\w*(?:${names})\\w*)`,
    `^(?:export\\s+)?(?:const|let|var)\\s+(?P<b>\\w*(?:${names})\\w*)`,
    `^#{1,4}\\s(?P<c>[^\\n]{0,80}(?:${names})[^\\n]{0,80})`,
  ].join("|");
}

/** Finds definitions whose name contains a term. In documents, headings count as definitions. */
export async function findDefinitions(
  { terms }: Goal,
  search: TimedSearch,
): Promise<Pick<Evidence, "definitions" | "missed">> {
  const definitions = new Map<string, string[]>();
  if (terms.length === 0) return { definitions, missed: [] };
  const result = await search(
    [
      "--only-matching",
      "--no-line-number",
      "--with-filename",
      "--ignore-case",
      `--max-count=${matchesPerFileMax}`,
      "--max-columns=300",
      "--replace=$a$b#$c",
      `--regexp=${definitionPattern(terms)}`,
      "--",
      ".",
    ],
    definitionBytesMax,
  );
  for (const { path, text } of parseMatches(result?.stdout ?? "")) {
    const at = text.indexOf("#");
    const name = at > 0 ? text.slice(0, at) : /\.(?:md|mdx|rst|adoc)$/i.test(path) ? text.slice(1).trim() : "";
    if (name === "") continue;
    const known = definitions.get(path) ?? [];
    if (!known.includes(name)) definitions.set(path, [...known, name]);
  }
  return { definitions, missed: result === null ? ["definitions"] : [] };
}

/** Finds the files that import one of the names, by the last part of the import path. */
export async function findImporters(
  names: readonly string[],
  search: TimedSearch,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const importers = new Map<string, string[]>();
  if (names.length === 0) return importers;
  const alternatives = names.map(escapeRegex).join("|");
  const result = await search(
    [
      "--only-matching",
      "--no-line-number",
      "--with-filename",
      "--max-columns=300",
      "--replace=$n",
      `--regexp=(?:\\bfrom|\\bimport|\\brequire|\\buse|\\binclude)\\b.*[/."' (:](?P<n>${alternatives})(?:\\.\\w{1,4})?["' ;)>:]*$`,
      "--",
      ".",
    ],
    definitionBytesMax,
  );
  for (const { path, text } of parseMatches(result?.stdout ?? "")) {
    const known = importers.get(text) ?? [];
    if (!known.includes(path)) importers.set(text, [...known, path]);
  }
  return importers;
}

/** The recent commits of a repository, by file. */
export interface RecentChanges {
  /** How often a file was changed. */
  countOf(path: string): number;
  /** A factor from 1, for an unchanged file, to 1.2, for a file that changes often. */
  activityOf(path: string): number;
  /** For each term, the most specific commit of the file whose subject contains the term. */
  commitsAbout(path: string, terms: readonly GoalTerm[]): { term: GoalTerm; subject: string; weight: number }[];
}

interface Commit {
  subject: string;
  words: string[];
  /** Lower for a commit of many files, whose subject says little about each of them. */
  weight: number;
}

export interface RecentChangesOptions {
  sandbox: Sandbox;
  workspace: string;
  signal: AbortSignal;
  timeoutMs: number;
}

const commitsMax = 200;
const logBytesMax = 2 * 1024 * 1024;
/** A larger commit moves or formats files. Its subject says nothing about them. */
const filesPerCommitMax = 60;

const noChanges: RecentChanges = { countOf: () => 0, activityOf: () => 1, commitsAbout: () => [] };

/** Reads the last commits. Without a repository, without git or without time the result is empty. */
export async function readRecentChanges({
  sandbox,
  workspace,
  signal,
  timeoutMs,
}: RecentChangesOptions): Promise<RecentChanges> {
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
    return parseLog(stdout);
  } catch {
    return noChanges;
  }
}

/** Parses `git log --name-only --format=%x01%s`. */
function parseLog(log: string): RecentChanges {
  const byPath = new Map<string, Commit[]>();
  for (const entry of log.split("\u0001").slice(1)) {
    const [subject = "", ...lines] = entry.split("\n");
    const paths = lines.filter((line) => line !== "");
    if (paths.length === 0 || paths.length > filesPerCommitMax) continue;
    const commit: Commit = { subject, words: wordsOf(subject), weight: 1 / Math.sqrt(paths.length) };
    for (const path of paths) byPath.set(path, [...(byPath.get(path) ?? []), commit]);
  }
  const countOf = (path: string): number => byPath.get(path)?.length ?? 0;
  return {
    countOf,
    activityOf: (path) => 1 + 0.2 * Math.min(1, Math.log2(1 + countOf(path)) / 4),
    commitsAbout: (path, terms) =>
      terms.flatMap((term) => {
        const best = (byPath.get(path) ?? [])
          .filter(({ words }) => hasTerm(words, term))
          .reduce<Commit | null>(
            (most, commit) => (most !== null && most.weight >= commit.weight ? most : commit),
            null,
          );
        return best ? [{ term, subject: best.subject, weight: best.weight }] : [];
      }),
  };
}
