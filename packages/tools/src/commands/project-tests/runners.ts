import { optionsOnly } from "./package-script.ts";
import { parseGoReport, parseJestReport, parseJunitReport, parseMochaReport } from "./structured-reports.ts";
import type { TestReport } from "./test-report.ts";
import { parseAnyText, parseCargo, parseTap, parseUnittest } from "./text-reports.ts";

export const runnerNames = [
  "vitest",
  "jest",
  "mocha",
  "node",
  "ava",
  "tap",
  "pytest",
  "unittest",
  "go",
  "cargo",
  "make",
  "script",
] as const;
export type RunnerName = (typeof runnerNames)[number];

/** The selected tests. */
export interface TestSelection {
  /** Relative to the runner's folder. */
  paths: readonly string[];
  filter: string | null;
  /** Arguments from the project's own test script. */
  projectArgs: readonly string[];
  /** Path for the runner's report. It is chosen when the runner starts. */
  report: string;
}

/** A test runner: its arguments, and the parser of its output. */
export interface Runner {
  argv(wanted: TestSelection): string[];
  parse(result: { report: string | null; output: string }): TestReport | null;
  /** Selections that the runner does not support. */
  takesNo?: "paths" | "paths or filter";
}

/** With selected paths, the project's own paths are left out. */
const projectArgsFor = ({ projectArgs: own, paths }: TestSelection): string[] =>
  paths.length > 0 ? optionsOnly(own) : [...own];
const filterArgs = ({ filter }: TestSelection, option: string): string[] =>
  filter === null ? [] : [`${option}${filter}`];
const fromReport = (parse: (text: string) => TestReport | null): Runner["parse"] => {
  return ({ report }) => (report === null ? null : parse(report));
};

export const runners: Readonly<Record<RunnerName, Runner>> = {
  vitest: {
    argv: (wanted) => [
      ...["vitest", "run", ...projectArgsFor(wanted).filter((arg) => !["run", "watch", "--watch"].includes(arg))],
      ...["--reporter=default", "--reporter=json", `--outputFile.json=${wanted.report}`],
      ...[...filterArgs(wanted, "--testNamePattern="), ...wanted.paths],
    ],
    parse: fromReport(parseJestReport),
  },
  jest: {
    argv: (wanted) => [
      ...["jest", ...projectArgsFor(wanted).filter((arg) => !arg.startsWith("--watch"))],
      ...["--ci", "--json", "--testLocationInResults", `--outputFile=${wanted.report}`],
      ...[...filterArgs(wanted, "--testNamePattern="), ...wanted.paths],
    ],
    parse: fromReport(parseJestReport),
  },
  mocha: {
    argv: (wanted) => [
      ...["mocha", ...projectArgsFor(wanted), "--reporter=json", `--reporter-option=output=${wanted.report}`],
      ...[...filterArgs(wanted, "--grep="), ...wanted.paths],
    ],
    parse: fromReport(parseMochaReport),
  },
  node: {
    argv: (wanted) => [
      ...["node", "--test", "--test-reporter=spec", "--test-reporter-destination=stdout"],
      ...["--test-reporter=junit", `--test-reporter-destination=${wanted.report}`],
      ...[...filterArgs(wanted, "--test-name-pattern="), ...projectArgsFor(wanted).filter((arg) => arg !== "--test")],
      ...wanted.paths,
    ],
    parse: fromReport(parseJunitReport),
  },
  ava: {
    argv: (wanted) => [
      "ava",
      ...projectArgsFor(wanted),
      "--tap",
      ...filterArgs(wanted, "--match=*").map((arg) => `${arg}*`),
      ...wanted.paths,
    ],
    parse: ({ output }) => parseTap(output),
  },
  tap: {
    argv: (wanted) => [
      "tap",
      ...projectArgsFor(wanted),
      "--reporter=tap",
      ...filterArgs(wanted, "--grep="),
      ...wanted.paths,
    ],
    parse: ({ output }) => parseTap(output),
  },
  pytest: {
    argv: (wanted) => [
      ...["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", `--junitxml=${wanted.report}`],
      ...(wanted.filter === null ? [] : ["-k", wanted.filter]),
      ...wanted.paths,
    ],
    parse: fromReport(parseJunitReport),
  },
  unittest: {
    argv: (wanted) => [
      ...["python3", "-m", "unittest", ...(wanted.paths.length > 0 ? [] : ["discover", ...wanted.projectArgs])],
      ...(wanted.filter === null ? [] : ["-k", wanted.filter]),
      ...wanted.paths,
    ],
    parse: ({ output }) => parseUnittest(output),
  },
  go: {
    argv: (wanted) => [
      ...["go", "test", "-json", ...filterArgs(wanted, "-run=")],
      ...(wanted.paths.length > 0 ? wanted.paths.map((path) => `./${path.replace(/\/?[^/]*\.go$/, "")}`) : ["./..."]),
    ],
    parse: ({ output }) => parseGoReport(output),
  },
  cargo: {
    argv: ({ filter }) => ["cargo", "test", ...(filter === null ? [] : ["--", filter])],
    parse: ({ output }) => parseCargo(output),
    takesNo: "paths",
  },
  make: {
    argv: () => ["make", "test"],
    parse: ({ output }) => parseAnyText(output),
    takesNo: "paths or filter",
  },
  script: {
    argv: ({ projectArgs: [script = ""] }) => ["/bin/sh", "-c", script],
    parse: ({ output }) => parseAnyText(output),
    takesNo: "paths or filter",
  },
};
