import { setImmediate } from "node:timers/promises";
import type { Evidence } from "./evidence.ts";
import { type FileKind, isEntryPoint, kindOf } from "./file-kind.ts";
import { type Goal, type GoalTerm, hasTerm, wordsOf } from "./goal-terms.ts";
import type { History } from "./recent-changes.ts";

/** A file that may bear on a goal, and why. */
export interface RankedFile {
  path: string;
  score: number;
  reasons: string[];
}

/** How much a sign of one word counts, of a word that no other file has. */
const worth = { mention: 6, name: 2, folder: 0.9, definition: 1.4, content: 1, commit: 0.8 } as const;
const namesShown = 3;
/** Between two looks at these the event loop goes on. */
const filesAtOnce = 1_000;

/**
 * The files that have a sign of the goal in them, the most promising first. A word counts the more the fewer files have
 * it, a file the more of the goal's words it has. By path where the scores are the same.
 */
export async function rankFiles(goal: Goal, evidence: Evidence, history: History): Promise<RankedFile[]> {
  const weights = weightsOf(goal, evidence);
  const total = sum([...weights.values()]);
  const ranked: RankedFile[] = [];
  for (const [i, path] of evidence.paths.entries()) {
    if (i % filesAtOnce === 0) await setImmediate();
    const signs = signsOf(path, { goal, evidence, history, weights });
    if (signs.points === 0) continue;
    const coverage = total === 0 ? 1 : sum([...signs.terms].map((term) => weights.get(term) ?? 0)) / total;
    const kind = kindOf(path);
    const score = signs.points * (0.4 + 0.6 * coverage) * kindFactor(kind, goal) * history.liveliness(path);
    ranked.push({ path, score, reasons: signs.reasons });
  }
  return sortedFiles(ranked);
}

interface Signs {
  points: number;
  terms: Set<GoalTerm>;
  reasons: string[];
}

interface SignSources {
  goal: Goal;
  evidence: Evidence;
  history: History;
  weights: ReadonlyMap<GoalTerm, number>;
}

function signsOf(path: string, { goal, evidence, history, weights }: SignSources): Signs {
  const signs: Signs = { points: 0, terms: new Set(), reasons: [] };
  const weightOf = (term: GoalTerm): number => weights.get(term) ?? 0;
  const add = (points: number, terms: readonly GoalTerm[], reason: string): void => {
    if (points === 0) return;
    signs.points += points;
    for (const term of terms) signs.terms.add(term);
    signs.reasons.push(reason);
  };

  const lower = path.toLowerCase();
  if (goal.mentions.some((mention) => lower === mention || lower.endsWith(`/${mention}`))) {
    add(worth.mention * Math.max(1, ...weights.values()), [], "named in the goal");
  }
  const { points, terms, reason } = nameSigns(path, goal, weightOf);
  add(points, terms, reason);
  const definitions = definitionSigns(evidence.definitions.get(path) ?? [], goal, weightOf);
  add(definitions.points, definitions.terms, definitions.reason);

  const counted = goal.terms.flatMap((term) => {
    const count = evidence.counts.get(term)?.get(path) ?? 0;
    return count > 0 ? [{ term, count }] : [];
  });
  add(
    sum(counted.map(({ term, count }) => worth.content * weightOf(term) * Math.min(1, Math.log2(1 + count) / 5))),
    counted.map(({ term }) => term),
    `has ${counted.map(({ term, count }) => `“${term.word}” ${count === 1 ? "once" : `${count} times`}`).join(", ")}`,
  );
  if (signs.points === 0) return signs;
  const commits = history.subjectsOf(path, goal.terms);
  add(
    sum(commits.map(({ term, share }) => worth.commit * weightOf(term) * share)),
    [],
    `changed in “${commits[0]?.subject}”`,
  );
  if (history.timesOf(path) > 2) signs.reasons.push(`changed ${history.timesOf(path)} times of late`);
  if (isEntryPoint(path)) signs.reasons.push("an entry point");
  return signs;
}

function nameSigns(
  path: string,
  goal: Goal,
  weightOf: (term: GoalTerm) => number,
): { points: number; terms: GoalTerm[]; reason: string } {
  const folders = path.split("/");
  const name = wordsOf(subjectNameOf(folders.pop() ?? ""));
  const above = wordsOf(folders.join("/"));
  const inName = goal.terms.filter((term) => hasTerm([...name, name.join("")], term));
  const inFolders = goal.terms.filter((term) => !inName.includes(term) && hasTerm(above, term));
  // All of a short name says more than a part of a long one.
  const exactness = 0.5 + 0.5 * Math.min(1, inName.length / Math.max(1, name.length));
  const points = worth.name * exactness * sum(inName.map(weightOf)) + worth.folder * sum(inFolders.map(weightOf));
  const where = [
    ...(inName.length > 0 ? [`its name has ${wordsShown(inName)}`] : []),
    ...(inFolders.length > 0 ? [`its folder has ${wordsShown(inFolders)}`] : []),
  ];
  return { points, terms: [...inName, ...inFolders], reason: where.join(", ") };
}

/** The best of the definitions counts; more of them add a little. */
function definitionSigns(
  names: readonly string[],
  goal: Goal,
  weightOf: (term: GoalTerm) => number,
): { points: number; terms: GoalTerm[]; reason: string } {
  const found = names
    .map((name) => {
      const words = wordsOf(name);
      const terms = goal.terms.filter((term) => hasTerm([...words, words.join("")], term));
      const exactness = 0.5 + 0.5 * Math.min(1, terms.length / Math.max(1, words.length));
      return { name, terms, points: worth.definition * exactness * sum(terms.map(weightOf)) };
    })
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points || (a.name < b.name ? -1 : 1));
  const best = found[0];
  if (!best) return { points: 0, terms: [], reason: "" };
  const shown = found.slice(0, namesShown).map(({ name }) => name.slice(0, 60));
  return {
    points: best.points * (1 + 0.08 * Math.min(5, found.length - 1)),
    terms: [...new Set(found.flatMap(({ terms }) => terms))],
    reason: `defines ${shown.join(", ")}`,
  };
}

/** A name without what says its language and its kind. */
function subjectNameOf(name: string): string {
  return name.replace(/\.[^.]+$/, "").replace(/\.(?:test|spec|d|fixture|test-helper)$/, "");
}

/** A word that half of the files have tells little; one that nobody has was not found, and counts for nothing. */
function weightsOf({ terms }: Goal, { counts, paths }: Evidence): Map<GoalTerm, number> {
  return new Map(
    terms.map((term) => {
      const files = counts.get(term)?.size ?? 0;
      return [term, Math.log(1 + (paths.length + 1) / (files + 1)) / Math.log(2 + paths.length)];
    }),
  );
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

/** The best first, and by path where they are the same. */
export function sortedFiles(files: RankedFile[]): RankedFile[] {
  // Sums of floats depend on their order: what is nearly the same is the same.
  return files
    .map((file) => ({ ...file, score: Math.round(file.score * 1e6) / 1e6 }))
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

function wordsShown(terms: readonly GoalTerm[]): string {
  return terms.map(({ word }) => `“${word}”`).join(", ");
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
