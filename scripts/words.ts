import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { root } from "./lib/project.ts";
import { isFatal, lowered, readRatchet, writeRatchet } from "./lib/ratchet.ts";
import { type Hit, placeOfFile, surveyWords, type WordSurvey } from "./lib/word-survey.ts";

/**
 * Names and words: banned words in names of files and declarations, unclear prose in comments, strings and docs, and
 * type names with several meanings. Fails for every word of an unnamed actor, for too many clauses without a head noun,
 * and when a count of names or types differs from scripts/ratchet.json.
 *
 *   node scripts/words.ts               compares, and prints the figures
 *   node scripts/words.ts --update      lowers the ratchet to today's counts; never raises it
 *   node scripts/words.ts --list TEXT   prints every hit whose rule or file contains TEXT
 */

/** Clauses without a head noun per 10,000 words of the whole tree. Patterns find some in plain English, too. */
const headlessMax = 2;

/** The number of places that a failure lists for one rule. */
const hitsShownMax = 20;

/** A line for each count that is not the ratchet's, with the places to look at; none when all is as it should be. */
export function findDifferences(
  allowed: Record<string, number>,
  { counts, hits }: Pick<WordSurvey, "counts" | "hits">,
  isNew: (hit: Hit) => boolean,
): string[] {
  return Object.entries(counts).flatMap(([key, count]) => {
    const limit = allowed[key];
    if (limit === undefined) return [`${key}: ${count}, and no ratchet yet. Run: pnpm lint:lower`];
    if (count < limit) return [`${key}: fell from ${limit} to ${count}. Record it: pnpm lint:lower`];
    return count > limit ? [`${key}: rose from ${limit} to ${count}.`, ...shownHits(key, hits, isNew)] : [];
  });
}

/** A line for each rule on prose that is broken, with the places to look at. */
export function findUnclearProse(
  { hits, words }: Pick<WordSurvey, "hits" | "words">,
  isNew: (hit: Hit) => boolean,
): string[] {
  const total = Object.values(words).reduce((sum, count) => sum + count, 0);
  const [dialect, headless] = ["dialect", "headless"].map((rule) => hits.filter(({ key }) => key.startsWith(rule)));
  const rate = per10000(headless?.length ?? 0, total);
  return [
    ...(dialect?.length ? ["dialect: no text may have these words.", ...shownHits("dialect", hits, isNew)] : []),
    ...(rate > headlessMax
      ? [
          `headless: ${rate.toFixed(1)} per 10,000 words, and at most ${headlessMax} are allowed.`,
          ...shownHits("headless", hits, isNew),
        ]
      : []),
  ];
}

function per10000(count: number, words: number): number {
  return (10_000 * count) / Math.max(words, 1);
}

/** The hits on new lines, for one of them raised the count; all of them if no line is known to be new. */
function shownHits(key: string, hits: Hit[], isNew: (hit: Hit) => boolean): string[] {
  const all = hits.filter((hit) => hit.key === key || hit.key.startsWith(`${key} in `));
  const fresh = all.filter(isNew);
  const candidates = fresh.length > 0 ? fresh : all;
  const shown = candidates.slice(0, hitsShownMax).map(describeHit);
  const rest = candidates.length - shown.length;
  return [
    ...shown.map((line) => `  ${line}`),
    ...(rest > 0 ? [`  and ${rest} more: node scripts/words.ts --list "${key}"`] : []),
  ];
}

function describeHit({ file, line, words, use }: Hit): string {
  return `${file}:${line}: "${words}" → ${use}`;
}

/** One row per package or top folder, the figures on prose per 10,000 words below. */
export function renderTable({ hits, words, wordsOf, shape }: WordSurvey): string {
  const places = [...new Set([...Object.keys(wordsOf), ...hits.map(({ file }) => placeOfFile(file))])].sort();
  const cell = (place: string, prefix: string): number =>
    hits.filter(({ file, key }) => placeOfFile(file) === place && key.startsWith(prefix)).length;
  const rows = places.map((place) => [
    place,
    wordsOf[place] ?? 0,
    ...["dialect", "headless", "name ", "exported types", "type names"].map((prefix) => cell(place, prefix)),
  ]);
  const head = ["", "words", "dialect", "headless", "names", "exported twice", "types in > 2 files"];
  const table = [head, ...rows].map((row) =>
    row.map((value, at) => (at === 0 ? `${value}`.padEnd(10) : `${value}`.padStart((head[at] ?? "").length + 2))),
  );
  const rate = (rule: string, kind: "comments" | "docs" | "strings"): string =>
    per10000(hits.filter(({ key }) => key === `${rule} in ${kind}`).length, words[kind]).toFixed(1);
  const rates = (rule: string): string =>
    `${rule} ${rate(rule, "comments")} in comments, ${rate(rule, "docs")} in docs, ${rate(rule, "strings")} in strings`;
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  return [
    ...table.map((row) => row.join("").trimEnd()),
    `per 10,000 words: ${rates("dialect")}; ${rates("headless")}`,
    `${shape.files} source files: median ${shape.medianLines} lines, ${percent(shape.shortShare)} of at most 60 lines, ` +
      `${percent(shape.singleUseShare)} imported by one file only`,
    "",
  ].join("\n");
}

/** Files that git has or would take. */
function listFiles(): string[] {
  return git("ls-files", "--cached", "--others", "--exclude-standard").split("\n").filter(Boolean);
}

/** Whether a hit is on a line that this branch adds to main, or this commit to the one before. */
function newHits(): (hit: Hit) => boolean {
  const added = new Set<string>();
  const untracked = new Set(git("ls-files", "--others", "--exclude-standard").split("\n"));
  try {
    let file = "";
    for (const line of git("diff", "--unified=0", "--find-renames", baseCommit()).split("\n")) {
      if (line.startsWith("+++ ")) file = line.slice("+++ b/".length);
      const [, from, count = "1"] = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
      for (let at = 0; from && at < Number(count); at++) added.add(`${file}:${Number(from) + at}`);
    }
  } catch {
    // A shallow clone has no base: then all hits are shown.
  }
  return ({ file, line }) => untracked.has(file) || added.has(`${file}:${line}`);
}

function baseCommit(): string {
  const head = git("rev-parse", "HEAD").trim();
  for (const branch of ["origin/main", "main"]) {
    try {
      const base = git("merge-base", "HEAD", branch).trim();
      if (base !== head) return base;
    } catch {
      // This checkout lacks the branch.
    }
  }
  return git("status", "--porcelain").trim() === "" ? "HEAD~1" : "HEAD";
}

function git(...args: string[]): string {
  return execFileSync("git", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 2 ** 28,
  });
}

function main(): void {
  const { values } = parseArgs({ options: { update: { type: "boolean" }, list: { type: "string" } } });
  const survey = surveyWords(root, listFiles());
  const { list } = values;
  if (list !== undefined) {
    const wanted = survey.hits.filter(({ key, file }) => key.includes(list) || file.includes(list));
    for (const hit of wanted) console.log(`${describeHit(hit)} (${hit.key})`);
    return;
  }
  if (values.update) {
    const ratchet = readRatchet(root);
    writeRatchet(root, { ...ratchet, counts: lowered(ratchet.counts, survey.counts) });
  }
  const allowed = readRatchet(root).counts;
  const isNew = newHits();
  const differences = [...findUnclearProse(survey, isNew), ...findDifferences(allowed, survey, isNew)];
  for (const difference of differences) console.error(difference);
  if (differences.some(isFatal)) process.exitCode = 1;
  else process.stdout.write(renderTable(survey));
}

if (import.meta.main) main();
