import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { TestReport, TestResult } from "./lib/vitest-report.ts";
import { checkRequirements, expectedIds, requirementsFile } from "./requirements.ts";

// The page of requirements is believed because this check refuses a wrong one: each way of being wrong is shown here.

const file = "packages/core/src/a.test.ts";
const report: TestReport = {
  brokenFiles: [],
  tests: [
    test(["the bus", "delivers"], "passed"),
    test(["the bus", "refuses a | in a name"], "passed"),
    test(["the queue", "takes"], "passed"),
    test(["the queue", "loses"], "failed"),
    test(["the journal", "is read"], "skipped"),
    test(["alone"], "passed"),
  ],
};

function test(titles: string[], status: TestResult["status"]): TestResult {
  return { file, titles, status };
}

/** A page with every number, `not yet` but for the rows given. */
function page(rows: Record<string, string> = {}): string {
  const lines = expectedIds.map((id) => rows[id] ?? `| ${id} | something | not yet |`);
  return ["# Requirements", "", "| number | what | proof |", "| --- | --- | --- |", ...lines, ""].join("\n");
}

function problemsOf(proof: string): string[] {
  return checkRequirements(page({ "S1.1": `| S1.1 | something | ${proof} |` }), report).problems;
}

describe("the page of requirements", () => {
  it("has every number once in this checkout", () => {
    const { problems } = checkRequirements(readFileSync(requirementsFile, "utf8"), { tests: [], brokenFiles: [] });
    expect(problems.filter((problem) => !problem.endsWith("did not run"))).toEqual([]);
  });

  it("expects 105 numbers", () => {
    expect(new Set(expectedIds).size).toBe(105);
    expect(expectedIds).toHaveLength(105);
  });

  it("counts proven and unproven rows", () => {
    const markdown = page({ "S3.15.17": `| S3.15.17 | something | \`${file} > the bus > delivers\` |` });
    expect(checkRequirements(markdown, report)).toEqual({ problems: [], proven: 1, notYet: 104 });
  });

  it.each([
    ["a missing number", page().replace("| S3.15.4 | something | not yet |\n", ""), "S3.15.4 is missing"],
    ["a doubled number", `${page()}| C.9 | again | not yet |\n`, "C.9 stands there more than once"],
    ["a number that is none", `${page()}| S6.1 | more | not yet |\n`, "S6.1 is not a known number"],
    ["an empty line", page({ "C.1": "| C.1 | | not yet |" }), "C.1 says nothing"],
  ])("refuses %s", (_what, markdown, problem) => {
    expect(checkRequirements(markdown, report).problems).toEqual([problem]);
  });
});

describe("a row may name", () => {
  it.each([
    ["a test", `\`${file} > the bus > delivers\``],
    ["a describe whose tests all passed", `\`${file} > the bus\``],
    ["a test outside of any describe", `\`${file} > alone\``],
    ["several", `\`${file} > the bus\`, \`${file} > alone\``],
    ["a name with a bar", `\`${file} > the bus > refuses a \\| in a name\``],
  ])("%s", (_what, proof) => {
    expect(problemsOf(proof)).toEqual([]);
  });
});

it("accepts a skipped test where skips are allowed, but does not count it as a proof", () => {
  const markdown = page({ "S1.1": `| S1.1 | something | \`${file} > the journal > is read\` |` });
  expect(checkRequirements(markdown, report, { skipsAllowed: true })).toEqual({ problems: [], proven: 0, notYet: 104 });
});

describe("a row may not name", () => {
  it.each([
    ["a test that failed", `\`${file} > the queue > loses\``, `S1.1: "${file} > the queue > loses" failed`],
    [
      "a test that was skipped",
      `\`${file} > the journal > is read\``,
      `S1.1: "${file} > the journal > is read" was skipped`,
    ],
    ["a test that does not exist", `\`${file} > the bus > flies\``, `S1.1: "${file} > the bus > flies" did not run`],
    ["a part of a name", `\`${file} > the bus > deliver\``, `S1.1: "${file} > the bus > deliver" did not run`],
    ["a file that did not run", "`packages/b.test.ts > the bus`", 'S1.1: "packages/b.test.ts > the bus" did not run'],
    ["a describe with a test that failed", `\`${file} > the queue\``, `S1.1: "${file} > the queue > loses" failed`],
    ["a whole file", `\`${file}\``, `S1.1: "${file}" names no test: write path > name`],
    [
      "one that failed beside one that passed",
      `\`${file} > alone\` \`${file} > the queue > loses\``,
      `S1.1: "${file} > the queue > loses" failed`,
    ],
    [
      "a test without backticks",
      `${file} > alone`,
      `S1.1 names neither a test in backticks nor \`not yet\`: "${file} > alone"`,
    ],
    ["nothing", "", 'S1.1 names neither a test in backticks nor `not yet`: ""'],
  ])("%s", (_what, proof, problem) => {
    expect(problemsOf(proof)).toEqual([problem]);
  });
});
