import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "./lib/command.ts";
import { inCi } from "./lib/environment.ts";
import { artifactsFolder, root } from "./lib/project.ts";
import {
  isWithin,
  notYet,
  numberOf,
  parseRows,
  proofNames,
  type RequirementsPage,
  type RequirementsRow,
  readPage,
  splitHidden,
  testCountsFile,
  textsFile,
} from "./lib/requirements-page.ts";
import { readReport, type TestReport, type TestResult } from "./lib/vitest-report.ts";

/**
 * Checks docs/requirements.md: one row for each number or for each lettered part of it, texts that equal
 * docs/requirements.json, and for each row tests that ran, asserted something and passed, or `not yet`.
 *
 *   node scripts/requirements.ts            checks the page against the report of the last whole test run
 *   node scripts/requirements.ts --count    adds the number of tests of each newly named describe to
 *                                           docs/requirements-tests.json; it changes no number that stands there
 */
export interface RequirementsResult {
  problems: string[];
  /** Numbers whose parts are all proven. */
  proven: number;
  /** Numbers with a part that is `not yet`. */
  notYet: number;
  /** Rows that this machine did not prove, because a test of theirs was skipped. */
  skippedHere: string[];
  provenRows: number;
  rows: number;
}

export interface CheckOptions {
  /** A skip that a missing program causes fails no row. CI allows none. */
  skipsAllowed?: boolean;
}

/** Every number there is: a number may neither be lost nor made up. */
export const expectedNumbers: readonly string[] = [
  ...numbers("S1", 18),
  ...numbers("S2", 18),
  ...numbers("S3", 16),
  ...numbers("S3.15", 17),
  ...numbers("S4", 15),
  ...numbers("S5", 12),
  ...numbers("SEC", 12),
  ...numbers("C", 9),
];

export function checkRequirements(
  page: RequirementsPage,
  report: TestReport,
  { skipsAllowed = false }: CheckOptions = {},
): RequirementsResult {
  const { shown, hidden } = splitHidden(page.markdown);
  const rows = parseRows(shown);
  const checked = rows.map((row) => ({ row, ...checkProof(row, report.tests, page.testCounts) }));
  const skipped = checked.filter(({ problems, skips }) => problems.length === 0 && skips.length > 0);
  const proven = checked.filter(
    ({ row, problems, skips }) => row.proof !== notYet && problems.length === 0 && skips.length === 0,
  );
  const pending = rows.filter((row) => row.proof === notYet);
  const provenIds = new Set(proven.map(({ row }) => row.id));
  const numbersHere = [...new Set(rows.map((row) => numberOf(row.id)))];
  return {
    problems: [
      ...parseRows(hidden).map(({ id }) => `${id} stands in a comment or a code fence, where it does not count`),
      ...idProblems(rows.map((row) => row.id)),
      ...textProblems(rows, page.texts),
      ...checked.flatMap(({ problems }) => problems),
      ...(skipsAllowed ? [] : checked.flatMap(({ skips }) => skips)),
      ...unusedCounts(rows, page.testCounts),
    ],
    proven: numbersHere.filter((number) => rows.every((row) => numberOf(row.id) !== number || provenIds.has(row.id)))
      .length,
    notYet: new Set(pending.map((row) => numberOf(row.id))).size,
    skippedHere: skipped.map(({ row }) => row.id),
    provenRows: proven.length,
    rows: rows.length,
  };
}

function numbers(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}.${i + 1}`);
}

/** Each number stands there once without a letter, or split into consecutive letters from a. */
function idProblems(ids: string[]): string[] {
  const doubled = [...new Set(ids.filter((id, i) => ids.indexOf(id) !== i))];
  const unknown = ids.filter((id) => !expectedNumbers.includes(numberOf(id)));
  return [
    ...expectedNumbers.flatMap((number) => partProblems(number, [...new Set(ids)])),
    ...doubled.map((id) => `${id} stands there more than once`),
    ...unknown.map((id) => `${id} is not a known number`),
  ];
}

function partProblems(number: string, ids: string[]): string[] {
  const own = ids.filter((id) => numberOf(id) === number);
  if (own.length === 0) return [`${number} is missing`];
  if (own.length === 1 && own[0] === number) return [];
  const letters = own.map((_, i) => `${number}${String.fromCharCode("a".charCodeAt(0) + i)}`);
  return own.every((id, i) => id === letters[i])
    ? []
    : [`${number} has the rows ${own.join(", ")}: write one row without a letter, or ${letters.join(", ")} in order`];
}

/** A row's text is kept twice, so that no single edit weakens its promise. */
function textProblems(rows: RequirementsRow[], texts: Record<string, string>): string[] {
  const ids = new Set(rows.map((row) => row.id));
  const lost = Object.keys(texts).filter((id) => !ids.has(id));
  const wrong = rows.flatMap(({ id, text }) => {
    if (text === "") return [`${id} says nothing`];
    if (texts[id] === undefined) return [`${id} is missing in ${textsFile}`];
    return texts[id] === text ? [] : [`the text of ${id} differs from ${textsFile}`];
  });
  return [...wrong, ...lost.map((id) => `${id} is in ${textsFile} and not on the page`)];
}

/** Skips are kept apart, because on a developer's machine they are not a problem. */
function checkProof(
  { id, proof }: RequirementsRow,
  tests: TestResult[],
  counts: Record<string, number>,
): { problems: string[]; skips: string[] } {
  if (proof === notYet) return { problems: [], skips: [] };
  const names = proofNames(proof);
  if (names.length === 0) {
    return { problems: [`${id} names neither a test in backticks nor \`${notYet}\`: "${proof}"`], skips: [] };
  }
  const checked = names.map((name) => checkName(name, tests, counts[name]));
  const own = (problem: string): string => `${id}: ${problem}`;
  return {
    problems: checked.flatMap(({ problems }) => problems.map(own)),
    skips: checked.flatMap(({ skips }) => skips.map(own)),
  };
}

function checkName(name: string, tests: TestResult[], count: number | undefined) {
  if (!name.includes(" > ")) return { problems: [`"${name}" names no test: write path > name`], skips: [] };
  const found = tests.filter((test) => isWithin(nameOf(test), name));
  if (found.length === 0) return { problems: [`"${name}" did not run`], skips: [] };
  return {
    problems: [
      ...found.filter(({ status }) => status === "failed").map((test) => `"${nameOf(test)}" failed`),
      ...found
        .filter(({ status, assertions }) => status === "passed" && assertions === 0)
        .map((test) => `"${nameOf(test)}" asserts nothing`),
      ...countProblems(name, found, count),
    ],
    skips: found.filter(({ status }) => status === "skipped").map((test) => `"${nameOf(test)}" was skipped`),
  };
}

/** A describe that lost tests since a row named it proves less than the row says. */
function countProblems(name: string, found: TestResult[], count: number | undefined): string[] {
  const isOneTest = found.length === 1 && found[0] !== undefined && nameOf(found[0]) === name;
  if (count === undefined) {
    return isOneTest ? [] : [`"${name}" is a describe without a count. Run: node scripts/requirements.ts --count`];
  }
  return found.length < count
    ? [`"${name}" holds ${found.length} tests, and held ${count} when it was named (${testCountsFile})`]
    : [];
}

function unusedCounts(rows: RequirementsRow[], counts: Record<string, number>): string[] {
  const named = new Set(rows.flatMap((row) => proofNames(row.proof)));
  const unused = Object.keys(counts).filter((name) => !named.has(name));
  return unused.map((name) => `${testCountsFile} counts "${name}", which no row names`);
}

function nameOf({ file, titles }: TestResult): string {
  return [file, ...titles].join(" > ");
}

/** Says the result in words, on stderr when it is bad. */
export function printRequirements(result: RequirementsResult): void {
  const { problems, proven, notYet, skippedHere, provenRows, rows } = result;
  for (const problem of problems) console.error(`docs/requirements.md: ${problem}`);
  if (skippedHere.length > 0) console.log(`requirements: skipped here: ${skippedHere.join(", ")}`);
  console.log(
    `requirements: ${proven} proven, ${notYet} not yet, ${skippedHere.length} skipped here, ${problems.length} wrong ` +
      `(${provenRows} of ${rows} rows proven)`,
  );
}

/** Adds counts for describes that have none, and drops counts without a row. */
async function addCounts(): Promise<void> {
  const { markdown, testCounts } = readPage(root);
  const names = [...new Set(parseRows(splitHidden(markdown).shown).flatMap((row) => proofNames(row.proof)))];
  const listed = await listTests(names.filter((name) => testCounts[name] === undefined));
  const counts = names.flatMap((name) => {
    const inside = listed.filter((test) => isWithin(test, name));
    const isDescribe = inside.length > 1 || (inside.length === 1 && inside[0] !== name);
    const count = testCounts[name] ?? (isDescribe ? inside.length : undefined);
    return count === undefined ? [] : [[name, count] as const];
  });
  writeFileSync(join(root, testCountsFile), `${JSON.stringify(Object.fromEntries(counts.sort()), null, 2)}\n`);
}

/** All tests of the files of these names, as `path > titles`, collected but not run. */
async function listTests(names: string[]): Promise<string[]> {
  const files = [...new Set(names.map((name) => name.split(" > ", 1)[0] ?? ""))];
  if (files.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), "troupe-tests-"));
  const output = join(folder, "tests.json");
  try {
    const { code } = await run(["vitest", "list", "--staticParse=false", `--json=${output}`, ...files], {
      output: "stderr",
    });
    if (code !== 0) throw new Error(`vitest list ended with code ${code}`);
    const tests = JSON.parse(readFileSync(output, "utf8")) as { name: string; file: string }[];
    return tests.map(({ name, file }) => `${relative(root, file)} > ${name}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function checkLastReport(): void {
  const report = readReport(join(artifactsFolder, "vitest.json"), root);
  if (!report) {
    console.error("there is no test report yet\nfix: npx -y pnpm@12 test");
    process.exitCode = 1;
    return;
  }
  const result = checkRequirements(readPage(root), report, { skipsAllowed: !inCi() });
  printRequirements(result);
  process.exitCode = result.problems.length > 0 ? 1 : 0;
}

if (import.meta.main) {
  if (process.argv.includes("--count")) await addCounts();
  else checkLastReport();
}
