import type { RipgrepEnd } from "../ripgrep.ts";
import { parseCounts } from "../ripgrep-output.ts";
import { escapedForSearch } from "../search-limits.ts";
import type { Goal, GoalTerm } from "./goal-terms.ts";

/** What is known of a workspace that may bear on a goal. */
export interface Evidence {
  /** All files that are not ignored, by path. */
  paths: string[];
  /** For each term that was looked for: how often each file has it. */
  counts: ReadonlyMap<GoalTerm, ReadonlyMap<string, number>>;
  /** Names of definitions, and headings, that have a term in them. */
  definitions: ReadonlyMap<string, readonly string[]>;
  /** What could not be looked into in time, in words. */
  missed: string[];
}

export interface Look {
  /** Searches, for as long as there is time. Null where there is none left. */
  search: (args: readonly string[], captureBytesMax: number) => Promise<RipgrepEnd | null>;
}

const countBytesMax = 8 * 1024 * 1024;
const definitionBytesMax = 4 * 1024 * 1024;
/** A file with more of a word is about it all the same. */
const matchesPerFileMax = 100;
/** While one is being started, others search. */
const searchesAtOnce = 3;

/** How often files have the words of a goal. */
export async function countTerms({ terms }: Goal, { search }: Look): Promise<Pick<Evidence, "counts" | "missed">> {
  const counts = new Map<GoalTerm, ReadonlyMap<string, number>>();
  const missed: string[] = [];
  for (let from = 0; from < terms.length; from += searchesAtOnce) {
    const some = terms.slice(from, from + searchesAtOnce);
    const ends = await Promise.all(
      some.map(({ pattern }) => {
        const args = ["--count-matches", "--with-filename", "--ignore-case", `--max-count=${matchesPerFileMax}`];
        return search([...args, `--regexp=${pattern}`, "--", "."], countBytesMax);
      }),
    );
    for (const [i, term] of some.entries()) {
      const end = ends[i];
      if (end) counts.set(term, new Map(parseCounts(end.stdout).map(({ path, count }) => [path, count])));
      else missed.push(JSON.stringify(term.word));
    }
  }
  return { counts, missed: missed.length > 0 ? [`the words ${missed.join(", ")}`] : [] };
}

/** Roughly, and in many languages: a keyword and a name. Variables only count where they are the file's own. */
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

/** What files define under names that have a term in them. Headings are definitions of documents. */
export async function findDefinitions(
  { terms }: Goal,
  { search }: Look,
): Promise<Pick<Evidence, "definitions" | "missed">> {
  const definitions = new Map<string, string[]>();
  if (terms.length === 0) return { definitions, missed: [] };
  const end = await search(
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
  for (const { path, text } of recordsIn(end?.stdout ?? "")) {
    const at = text.indexOf("#");
    const name = at > 0 ? text.slice(0, at) : /\.(?:md|mdx|rst|adoc)$/i.test(path) ? text.slice(1).trim() : "";
    if (name === "") continue;
    const known = definitions.get(path) ?? [];
    if (!known.includes(name)) definitions.set(path, [...known, name]);
  }
  return { definitions, missed: end === null ? ["definitions"] : [] };
}

/** Which files import one of those, by the last part of what they import. */
export async function findImporters(
  subjects: readonly string[],
  { search }: Look,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const importers = new Map<string, string[]>();
  if (subjects.length === 0) return importers;
  const names = subjects.map(escapedForSearch).join("|");
  const end = await search(
    [
      "--only-matching",
      "--no-line-number",
      "--with-filename",
      "--max-columns=300",
      "--replace=$n",
      `--regexp=(?:\\bfrom|\\bimport|\\brequire|\\buse|\\binclude)\\b.*[/."' (:](?P<n>${names})(?:\\.\\w{1,4})?["' ;)>:]*$`,
      "--",
      ".",
    ],
    definitionBytesMax,
  );
  for (const { path, text } of recordsIn(end?.stdout ?? "")) {
    const known = importers.get(text) ?? [];
    if (!known.includes(path)) importers.set(text, [...known, path]);
  }
  return importers;
}

/** `./path`, NUL, text, for each line. */
function recordsIn(stdout: string): { path: string; text: string }[] {
  return stdout.split("\n").flatMap((record) => {
    const nul = record.indexOf("\0");
    return nul > 2 ? [{ path: record.slice(2, nul), text: record.slice(nul + 1) }] : [];
  });
}
