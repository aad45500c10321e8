import { readFileSync } from "node:fs";
import { join } from "node:path";
import { artifactsFolder, root } from "./lib/project.ts";
import { readReport, type TestReport, type TestResult } from "./lib/vitest-report.ts";

/**
 * Checks docs/requirements.md: one row for each number, and for each row tests that ran and passed, or `not yet`.
 * Run on its own it takes the report of the last whole test run.
 */
export interface RequirementsResult {
  problems: string[];
  proven: number;
  notYet: number;
}

export interface CheckOptions {
  /** A skip that a missing program causes is named in the summary and fails no row. CI allows none. */
  skipsAllowed?: boolean;
}

interface Row {
  id: string;
  text: string;
  proof: string;
}

/** Every number there is: a row may neither be lost nor made up. */
export const expectedIds: readonly string[] = [
  ...numbers("S1", 18),
  ...numbers("S2", 18),
  ...numbers("S3", 16),
  ...numbers("S3.15", 17),
  ...numbers("S4", 15),
  ...numbers("S5", 12),
  ...numbers("C", 9),
];

export const requirementsFile = join(root, "docs", "requirements.md");

export function checkRequirements(
  markdown: string,
  report: TestReport,
  { skipsAllowed = false }: CheckOptions = {},
): RequirementsResult {
  const rows = parseRows(markdown);
  const tests = skipsAllowed ? report.tests.map(excuseSkip) : report.tests;
  const strict = rows.map((row) => proofProblems(row, report.tests));
  const proofs = rows.map((row) => proofProblems(row, tests));
  const notYet = rows.filter((row) => row.proof === "not yet").length;
  const problems = [...idProblems(rows.map((row) => row.id)), ...proofs.flat()];
  const proven = rows.filter((row, i) => row.proof !== "not yet" && strict[i]?.length === 0).length;
  return { problems, proven, notYet };
}

function numbers(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}.${i + 1}`);
}

/** Table rows whose first cell is a number: `| S1.1 | text | proof |`. A bar inside a cell is written `\|`. */
function parseRows(markdown: string): Row[] {
  return markdown.split("\n").flatMap((line) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
    const [before, id = "", text = "", proof = ""] = cells;
    return before === "" && /^[A-Z]\d*(\.\d+)+$/.test(id) ? [{ id, text, proof }] : [];
  });
}

function idProblems(ids: string[]): string[] {
  const missing = expectedIds.filter((id) => !ids.includes(id)).map((id) => `${id} is missing`);
  const doubled = new Set(ids.filter((id, i) => ids.indexOf(id) !== i));
  const unknown = ids.filter((id) => !expectedIds.includes(id)).map((id) => `${id} is not a known number`);
  return [...missing, ...[...doubled].map((id) => `${id} stands there more than once`), ...unknown];
}

/** `path > name` in backticks, as many as needed; the name is a test's or a describe's, with those around it. */
function proofProblems({ id, text, proof }: Row, tests: TestResult[]): string[] {
  const problems = text === "" ? [`${id} says nothing`] : [];
  if (proof === "not yet") return problems;
  const named = [...proof.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  if (named.length === 0) problems.push(`${id} names neither a test in backticks nor \`not yet\`: "${proof}"`);
  return [...problems, ...named.flatMap((name) => testProblems(name, tests).map((problem) => `${id}: ${problem}`))];
}

function excuseSkip(test: TestResult): TestResult {
  return test.status === "skipped" ? { ...test, status: "passed" } : test;
}

function testProblems(name: string, tests: TestResult[]): string[] {
  const [file = "", ...titles] = name.split(" > ");
  if (titles.length === 0) return [`"${name}" names no test: write path > name`];
  // Compared as text, so that a title may hold " > " itself.
  const wanted = titles.join(" > ");
  const found = tests.filter(
    (test) => test.file === file && `${test.titles.join(" > ")} > `.startsWith(`${wanted} > `),
  );
  if (found.length === 0) return [`"${name}" did not run`];
  const bad = found.filter((test) => test.status !== "passed");
  return bad.map(
    (test) => `"${[file, ...test.titles].join(" > ")}" ${test.status === "failed" ? "failed" : "was skipped"}`,
  );
}

/** Says the result in words, on stderr when it is bad. */
export function printRequirements({ problems, proven, notYet }: RequirementsResult): void {
  for (const problem of problems) console.error(`docs/requirements.md: ${problem}`);
  console.log(`requirements: ${proven} proven, ${notYet} not yet, ${problems.length} wrong`);
}

if (import.meta.main) {
  const report = readReport(join(artifactsFolder, "vitest.json"), root);
  if (!report) {
    console.error("there is no test report yet\nfix: npx -y pnpm@12 test");
    process.exit(1);
  }
  const result = checkRequirements(readFileSync(requirementsFile, "utf8"), report);
  printRequirements(result);
  process.exitCode = result.problems.length > 0 ? 1 : 0;
}
