import { setImmediate } from "node:timers/promises";
import type { Evidence, RecentChanges } from "./evidence.ts";
import { type Goal, type GoalTerm, hasTerm, wordsOf } from "./goal.ts";

/** A file that is relevant for a goal, and why. */
export interface RankedFile {
  path: string;
  score: number;
  reasons: string[];
}

/** Points for a match of one term that occurs in no other file. */
const points = { mention: 6, name: 2, folder: 0.9, definition: 1.4, content: 1, commit: 0.8 } as const;
const namesShown = 3;
/** The event loop continues after each of these batches. */
const filesAtOnce = 1_000;

/**
 * Ranks the files that match the goal, best first, and by path where scores are equal. A rare term counts more than a
 * frequent one, and a file with more of the terms counts more.
 */
export async function rankFiles(goal: Goal, evidence: Evidence, changes: RecentChanges): Promise<RankedFile[]> {
  const weights = weightsOf(goal, evidence);
  const total = sum([...weights.values()]);
  const ranked: RankedFile[] = [];
  for (const [i, path] of evidence.paths.entries()) {
    if (i % filesAtOnce === 0) await setImmediate();
    const match = matchFile(path, { goal, evidence, changes, weights });
    if (match.points === 0) continue;
    const coverage = total === 0 ? 1 : sum([...match.terms].map((term) => weights.get(term) ?? 0)) / total;
    const kind = kindOf(path);
    const score = match.points * (0.4 + 0.6 * coverage) * kindFactor(kind, goal) * changes.activityOf(path);
    ranked.push({ path, score, reasons: match.reasons });
  }
  return sortByScore(ranked);
}

/** Best first. Equal scores by path. */
function sortByScore(files: RankedFile[]): RankedFile[] {
  // The sum of floats depends on their order. Rounding makes equal scores equal.
  return files
    .map((file) => ({ ...file, score: Math.round(file.score * 1e6) / 1e6 }))
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

/** A frequent term has a low weight. A term without matches has no effect. */
function weightsOf({ terms }: Goal, { counts, paths }: Evidence): Map<GoalTerm, number> {
  return new Map(
    terms.map((term) => {
      const files = counts.get(term)?.size ?? 0;
      return [term, Math.log(1 + (paths.length + 1) / (files + 1)) / Math.log(2 + paths.length)];
    }),
  );
}

interface FileMatch {
  points: number;
  terms: Set<GoalTerm>;
  reasons: string[];
}

interface MatchSources {
  goal: Goal;
  evidence: Evidence;
  changes: RecentChanges;
  weights: ReadonlyMap<GoalTerm, number>;
}

function matchFile(path: string, { goal, evidence, changes, weights }: MatchSources): FileMatch {
  const match: FileMatch = { points: 0, terms: new Set(), reasons: [] };
  const weightOf = (term: GoalTerm): number => weights.get(term) ?? 0;
  const add = (added: number, terms: readonly GoalTerm[], reason: string): void => {
    if (added === 0) return;
    match.points += added;
    for (const term of terms) match.terms.add(term);
    match.reasons.push(reason);
  };

  const lower = path.toLowerCase();
  if (goal.mentions.some((mention) => lower === mention || lower.endsWith(`/${mention}`))) {
    add(points.mention * Math.max(1, ...weights.values()), [], "named in the goal");
  }
  const inName = matchName(path, goal, weightOf);
  add(inName.points, inName.terms, inName.reason);
  const inDefinitions = matchDefinitions(evidence.definitions.get(path) ?? [], goal, weightOf);
  add(inDefinitions.points, inDefinitions.terms, inDefinitions.reason);

  const counted = goal.terms.flatMap((term) => {
    const count = evidence.counts.get(term)?.get(path) ?? 0;
    return count > 0 ? [{ term, count }] : [];
  });
  add(
    sum(counted.map(({ term, count }) => points.content * weightOf(term) * Math.min(1, Math.log2(1 + count) / 5))),
    counted.map(({ term }) => term),
    `has ${counted.map(({ term, count }) => `“${term.word}” ${count === 1 ? "once" : `${count} times`}`).join(", ")}`,
  );
  if (match.points === 0) return match;
  const commits = changes.commitsAbout(path, goal.terms);
  add(
    sum(commits.map(({ term, weight }) => points.commit * weightOf(term) * weight)),
    [],
    `changed in “${commits[0]?.subject}”`,
  );
  if (changes.countOf(path) > 2) match.reasons.push(`changed ${changes.countOf(path)} times recently`);
  if (isEntryPoint(path)) match.reasons.push("an entry point");
  return match;
}

interface TermMatch {
  points: number;
  terms: GoalTerm[];
  reason: string;
}

function matchName(path: string, goal: Goal, weightOf: (term: GoalTerm) => number): TermMatch {
  const folders = path.split("/");
  const fileWords = wordsOf(withoutSuffixes(folders.pop() ?? ""));
  const folderWords = wordsOf(folders.join("/"));
  const inName = goal.terms.filter((term) => hasTerm([...fileWords, fileWords.join("")], term));
  const inFolders = goal.terms.filter((term) => !inName.includes(term) && hasTerm(folderWords, term));
  // A match of a whole short name is better than a match of a part of a long one.
  const exactness = 0.5 + 0.5 * Math.min(1, inName.length / Math.max(1, fileWords.length));
  const reasons = [
    ...(inName.length > 0 ? [`its name has ${quoteWords(inName)}`] : []),
    ...(inFolders.length > 0 ? [`its folder has ${quoteWords(inFolders)}`] : []),
  ];
  return {
    points: points.name * exactness * sum(inName.map(weightOf)) + points.folder * sum(inFolders.map(weightOf)),
    terms: [...inName, ...inFolders],
    reason: reasons.join(", "),
  };
}

/** Removes the extension and suffixes such as `.test`. */
function withoutSuffixes(name: string): string {
  return name.replace(/\.[^.]+$/, "").replace(/\.(?:test|spec|d|fixture|test-helper)$/, "");
}

/** The best definition counts. Further ones add a little. */
function matchDefinitions(names: readonly string[], goal: Goal, weightOf: (term: GoalTerm) => number): TermMatch {
  const matches = names
    .map((name) => {
      const words = wordsOf(name);
      const terms = goal.terms.filter((term) => hasTerm([...words, words.join("")], term));
      const exactness = 0.5 + 0.5 * Math.min(1, terms.length / Math.max(1, words.length));
      return { name, terms, points: points.definition * exactness * sum(terms.map(weightOf)) };
    })
    .filter((match) => match.points > 0)
    .sort((a, b) => b.points - a.points || (a.name < b.name ? -1 : 1));
  const best = matches[0];
  if (!best) return { points: 0, terms: [], reason: "" };
  const shown = matches.slice(0, namesShown).map(({ name }) => name.slice(0, 60));
  return {
    points: best.points * (1 + 0.08 * Math.min(5, matches.length - 1)),
    terms: [...new Set(matches.flatMap(({ terms }) => terms))],
    reason: `defines ${shown.join(", ")}`,
  };
}

function quoteWords(terms: readonly GoalTerm[]): string {
  return terms.map(({ word }) => `“${word}”`).join(", ");
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export interface RelatedFiles {
  /** The best files. Their tests and importers gain points. */
  best: readonly RankedFile[];
  /** All files. */
  paths: readonly string[];
  /** The files that import a best file, by the name that they import. */
  importers: ReadonlyMap<string, readonly string[]>;
  /** True for goals about tests. Otherwise a test ranks below its subject. */
  aboutTests: boolean;
}

/** Share of a file's score that its test and its importers gain. */
const gainedShare = { test: 0.3, importer: 0.12 } as const;
/** The highest score of a test, relative to its subject. */
const testScoreMax = 0.95;

/** The names that other files use to import the best files. */
export function importNamesOf(best: readonly RankedFile[]): string[] {
  return [...new Set(best.flatMap(({ path }) => (isImportable(path) ? [subjectOf(path)] : [])))];
}

/** Adds the tests and importers of the best files to the ranking. */
export function withRelatedFiles(ranked: readonly RankedFile[], related: RelatedFiles): RankedFile[] {
  const { best, paths, importers, aboutTests } = related;
  const byPath = new Map(ranked.map((file) => [file.path, { ...file, reasons: [...file.reasons] }]));
  const addPoints = (path: string, added: number, reason: string): RankedFile => {
    const file = byPath.get(path) ?? { path, score: 0, reasons: [] };
    file.score += added;
    file.reasons.push(reason);
    byPath.set(path, file);
    return file;
  };
  const seenImporters = new Set<string>();
  for (const { path, score } of best.filter((file) => isImportable(file.path))) {
    const subject = subjectOf(path);
    const name = path.slice(path.lastIndexOf("/") + 1);
    const test = nearestTo(
      path,
      // The cheap check comes first, because there may be thousands of paths.
      paths.filter((other) => isAbout(other, subject) && kindOf(other) === "test"),
    );
    if (test !== null) {
      const file = addPoints(test, score * gainedShare.test, `tests ${name}`);
      if (!aboutTests) file.score = Math.min(file.score, score * testScoreMax);
    }
    for (const importer of importers.get(subject) ?? []) {
      if (importer === path || importer === test || seenImporters.has(importer)) continue;
      seenImporters.add(importer);
      addPoints(importer, score * gainedShare.importer, `imports ${name}`);
    }
  }
  return sortByScore([...byPath.values()]);
}

function isImportable(path: string): boolean {
  return kindOf(path) === "source" && !genericNames.has(subjectOf(path));
}

function isAbout(path: string, subject: string): boolean {
  return path.toLowerCase().includes(subject) && subjectOf(path) === subject;
}

/** The candidate with the most folders in common. Several packages may have a file of the same name. */
function nearestTo(path: string, candidates: readonly string[]): string | null {
  const folders = path.split("/");
  const common = (other: string): number => {
    const names = other.split("/");
    const at = folders.findIndex((folder, i) => folder !== names[i]);
    return at === -1 ? folders.length : at;
  };
  return [...candidates].sort((a, b) => common(b) - common(a) || (a < b ? -1 : 1))[0] ?? null;
}

/** Names that many files share. An import of one of them may mean any of these files. */
const genericNames = new Set([
  "index",
  "main",
  "mod",
  "lib",
  "__init__",
  "types",
  "utils",
  "util",
  "app",
  "readme",
  "core",
]);

/** The subject of a file or of its test: `call-tool` for `call-tool.property.test.ts`. */
function subjectOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const stem = name.replace(/^test[_-]/, "").replace(/\..*$/, "");
  return stem.replace(/[_-](?:test|tests|spec)$/, "").replace(/(?<=.)tests?$/, "");
}

/** The kind of a file, as its path tells. */
type FileKind = "source" | "test" | "document" | "data" | "generated";

const testFolders = new Set(["test", "tests", "__tests__", "spec", "specs", "testing", "e2e"]);
const testNames = new Set(["test", "tests", "spec", "fixture", "fixtures", "helper", "bench"]);
const generatedFolders = new Set(["dist", "build", "out", "vendor", "third_party", "node_modules", "__snapshots__"]);

function kindOf(path: string): FileKind {
  const folders = path.toLowerCase().split("/");
  const name = folders.pop() ?? "";
  if (/(?:^|[-.])lock(?:\.|$)|-lock\.|\.min\.|\.map$|\.snap$|\.svg$/.test(name)) return "generated";
  if (folders.some((folder) => generatedFolders.has(folder))) return "generated";
  if (/^changelog|^changes\.|^licen[cs]e|^notice/.test(name)) return "generated";
  if (/\.(?:md|mdx|rst|adoc|txt)$/.test(name)) return "document";
  if (isTestName(name) || folders.some((folder) => testFolders.has(folder))) return "test";
  if (/\.(?:json|jsonl|ya?ml|toml|csv|xml|ini|sql|css|html)$/.test(name)) return "data";
  return "source";
}

function isTestName(name: string): boolean {
  const words = wordsOf(name.replace(/\.[^.]+$/, ""));
  return words.length > 1 && (testNames.has(words.at(-1) ?? "") || words[0] === "test");
}

function kindFactor(kind: FileKind, { aboutTests, aboutDocs }: Goal): number {
  switch (kind) {
    case "source":
      return 1;
    case "test":
      return aboutTests ? 1 : 0.5;
    case "document":
      return aboutDocs ? 1.2 : 0.5;
    case "data":
      return 0.6;
    case "generated":
      return 0.1;
  }
}

/** True for a file that a reader usually starts with. */
export function isEntryPoint(path: string): boolean {
  return /(?:^|\/)(?:main|index|app|cli|server|mod|lib|__main__|manage|readme|architecture|package)\.(?:[cm]?[jt]sx?|py|go|rs|md|json)$/i.test(
    path,
  );
}
