import { parseJunitReport } from "./junit-report.ts";
import { optionsOnly } from "./package-script.ts";
import { parseGoReport, parseJestReport, parseMochaReport } from "./structured-reports.ts";
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

/** What of the tests is wanted. */
export interface Wanted {
  /** Relative to the folder of the runner. */
  paths: readonly string[];
  filter: string | null;
  /** What the project itself gives the runner. */
  own: readonly string[];
  /** Where the runner is to leave its report; it is known when it is started only. */
  report: string;
}

/** A program that runs tests: how it is asked, and how its answer is read. */
export interface Runner {
  argv(wanted: Wanted): string[];
  parse(said: { report: string | null; output: string }): TestReport | null;
  /** Why it cannot be asked for only some of its tests. */
  takesNo?: "paths" | "paths or filter";
}

/** With paths, the project's own choice of files is left out. */
const ownOf = ({ own, paths }: Wanted): string[] => (paths.length > 0 ? optionsOnly(own) : [...own]);
const filterOf = ({ filter }: Wanted, option: string): string[] => (filter === null ? [] : [`${option}${filter}`]);
const fromReport = (parse: (text: string) => TestReport | null): Runner["parse"] => {
  return ({ report }) => (report === null ? null : parse(report));
};

export const runners: Readonly<Record<RunnerName, Runner>> = {
  vitest: {
    argv: (wanted) => [
      ...["vitest", "run", ...ownOf(wanted).filter((arg) => !["run", "watch", "--watch"].includes(arg))],
      ...["--reporter=default", "--reporter=json", `--outputFile.json=${wanted.report}`],
      ...[...filterOf(wanted, "--testNamePattern="), ...wanted.paths],
    ],
    parse: fromReport(parseJestReport),
  },
  jest: {
    argv: (wanted) => [
      ...["jest", ...ownOf(wanted).filter((arg) => !arg.startsWith("--watch"))],
      ...["--ci", "--json", "--testLocationInResults", `--outputFile=${wanted.report}`],
      ...[...filterOf(wanted, "--testNamePattern="), ...wanted.paths],
    ],
    parse: fromReport(parseJestReport),
  },
  mocha: {
    argv: (wanted) => [
      ...["mocha", ...ownOf(wanted), "--reporter=json", `--reporter-option=output=${wanted.report}`],
      ...[...filterOf(wanted, "--grep="), ...wanted.paths],
    ],
    parse: fromReport(parseMochaReport),
  },
  node: {
    argv: (wanted) => [
      ...["node", "--test", "--test-reporter=spec", "--test-reporter-destination=stdout"],
      ...["--test-reporter=junit", `--test-reporter-destination=${wanted.report}`],
      ...[...filterOf(wanted, "--test-name-pattern="), ...ownOf(wanted).filter((arg) => arg !== "--test")],
      ...wanted.paths,
    ],
    parse: fromReport(parseJunitReport),
  },
  ava: {
    argv: (wanted) => [
      "ava",
      ...ownOf(wanted),
      "--tap",
      ...filterOf(wanted, "--match=*").map((arg) => `${arg}*`),
      ...wanted.paths,
    ],
    parse: ({ output }) => parseTap(output),
  },
  tap: {
    argv: (wanted) => ["tap", ...ownOf(wanted), "--reporter=tap", ...filterOf(wanted, "--grep="), ...wanted.paths],
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
      ...["python3", "-m", "unittest", ...(wanted.paths.length > 0 ? [] : ["discover", ...wanted.own])],
      ...(wanted.filter === null ? [] : ["-k", wanted.filter]),
      ...wanted.paths,
    ],
    parse: ({ output }) => parseUnittest(output),
  },
  go: {
    argv: (wanted) => [
      ...["go", "test", "-json", ...filterOf(wanted, "-run=")],
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
    argv: ({ own: [script = ""] }) => ["/bin/sh", "-c", script],
    parse: ({ output }) => parseAnyText(output),
    takesNo: "paths or filter",
  },
};
