import { describe, expect, it } from "vitest";
import { root } from "./lib/project.ts";
import { parseRows, type RequirementsPage, readPage } from "./lib/requirements-page.ts";
import type { TestReport, TestResult } from "./lib/vitest-report.ts";
import { checkRequirements, expectedNumbers } from "./requirements.ts";

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
    test(["empty"], "passed", 0),
  ],
};

function test(titles: string[], status: TestResult["status"], assertions = 1): TestResult {
  return { file, titles, status, assertions };
}

/** A page with every number, `not yet` but for the rows given; its texts and counts are as they should be. */
function page(rows: Record<string, string> = {}, testCounts: Record<string, number> = {}): RequirementsPage {
  const lines = expectedNumbers.map((id) => rows[id] ?? `| ${id} | something | not yet |`);
  const markdown = ["# Requirements", "", "| number | what | proof |", "| --- | --- | --- |", ...lines, ""].join("\n");
  const texts = Object.fromEntries(parseRows(markdown).map(({ id, text }) => [id, text]));
  return { markdown, texts, testCounts };
}

function proving(proof: string, testCounts: Record<string, number> = {}): RequirementsPage {
  return page({ "S1.1": `| S1.1 | something | ${proof} |` }, testCounts);
}

/** Counts of the describes that the proof names. */
function countsOf(proof: string): Record<string, number> {
  return Object.fromEntries(
    ["the bus", "the queue"].map((name) => [`${file} > ${name}`, 2]).filter(([name]) => proof.includes(`\`${name}\``)),
  );
}

function problemsOf(proof: string): string[] {
  return checkRequirements(proving(proof, countsOf(proof)), report).problems;
}

describe("the page of requirements", () => {
  it("has every number once in this checkout, with its text", () => {
    const { problems } = checkRequirements(readPage(root), { tests: [], brokenFiles: [] });
    expect(problems.filter((problem) => !problem.endsWith("did not run"))).toEqual([]);
  });

  it("expects 117 numbers", () => {
    expect(new Set(expectedNumbers).size).toBe(117);
    expect(expectedNumbers).toHaveLength(117);
  });

  it("counts proven and unproven rows", () => {
    const one = page({ "S3.15.17": `| S3.15.17 | something | \`${file} > the bus > delivers\` |` });
    expect(checkRequirements(one, report)).toMatchObject({ problems: [], proven: 1, notYet: 116 });
  });

  const unchanged = page();
  const edit = (find: string, replace: string) => ({
    ...unchanged,
    markdown: unchanged.markdown.replace(find, () => replace),
  });
  const add = (lines: string) => ({ ...unchanged, markdown: `${unchanged.markdown}${lines}\n` });
  const row = "| S3.15.4 | something | not yet |";

  it.each([
    [
      "a missing number",
      edit(`${row}\n`, ""),
      ["S3.15.4 is missing", "S3.15.4 is in docs/requirements.json and not on the page"],
    ],
    ["a doubled number", add("| C.9 | something | not yet |"), ["C.9 stands there more than once"]],
    [
      "an unknown number",
      add("| S6.1 | more | not yet |"),
      ["S6.1 is not a known number", "S6.1 is missing in docs/requirements.json"],
    ],
    ["a row without a text", page({ "C.1": "| C.1 | | not yet |" }), ["C.1 says nothing"]],
    [
      "a text that changed",
      edit(row, "| S3.15.4 | anything | not yet |"),
      ["the text of S3.15.4 differs from docs/requirements.json"],
    ],
    ["a row in a comment", edit(row, `${row}\n<!-- ${row.replace("3.15.4", "1.1")} -->`), []],
    [
      "a row inside of a comment",
      edit(row, `${row}\n<!--\n| S1.1 | something | not yet |\n-->`),
      ["S1.1 stands in a comment or a code fence, where it does not count"],
    ],
    [
      "a row inside of a comment that never ends",
      add("<!--\n| S1.1 | something | not yet |"),
      ["S1.1 stands in a comment or a code fence, where it does not count"],
    ],
    [
      "a row inside of a code fence",
      add("```\n| S1.1 | something | not yet |\n```"),
      ["S1.1 stands in a comment or a code fence, where it does not count"],
    ],
  ])("refuses %s", (_what, changed, problems) => {
    expect(checkRequirements(changed, report).problems).toEqual(expect.arrayContaining(problems));
  });

  it("refuses a row that only a comment has", () => {
    expect(checkRequirements(edit(row, `<!--\n${row}\n-->`), report).problems).toEqual([
      "S3.15.4 stands in a comment or a code fence, where it does not count",
      "S3.15.4 is missing",
      "S3.15.4 is in docs/requirements.json and not on the page",
    ]);
  });

  it("counts a count that no row needs as a problem", () => {
    expect(checkRequirements(page({}, { "a > b": 3 }), report).problems).toEqual([
      'docs/requirements-tests.json counts "a > b", which no row names',
    ]);
  });
});

describe("a number in parts", () => {
  const part = (id: string, proof: string) => `| ${id} | something | ${proof} |`;
  const proof = `\`${file} > alone\``;
  const check = (...rows: string[]) => checkRequirements(page({ "S2.1": rows.join("\n") }), report);

  it("is proven when all its parts are", () => {
    expect(check(part("S2.1a", proof), part("S2.1b", proof))).toMatchObject({ problems: [], proven: 1, notYet: 116 });
    expect(check(part("S2.1a", proof), part("S2.1b", "not yet"))).toMatchObject({
      problems: [],
      proven: 0,
      notYet: 117,
    });
  });

  it.each([
    [
      "a gap",
      ["S2.1a", "S2.1c"],
      "S2.1 has the rows S2.1a, S2.1c: write one row without a letter, or S2.1a, S2.1b in order",
    ],
    ["no a", ["S2.1b"], "S2.1 has the rows S2.1b: write one row without a letter, or S2.1a in order"],
    [
      "the whole beside a part",
      ["S2.1", "S2.1a"],
      "S2.1 has the rows S2.1, S2.1a: write one row without a letter, or S2.1a, S2.1b in order",
    ],
    ["a part twice", ["S2.1a", "S2.1a"], "S2.1a stands there more than once"],
  ])("may not have %s", (_what, ids, problem) => {
    expect(check(...ids.map((id) => part(id, "not yet"))).problems).toEqual([problem]);
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
  const skipped = proving(`\`${file} > the journal > is read\``);
  expect(checkRequirements(skipped, report, { skipsAllowed: true })).toMatchObject({
    problems: [],
    proven: 0,
    notYet: 116,
    skippedHere: ["S1.1"],
  });
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
    ["a test that asserts nothing", `\`${file} > empty\``, `S1.1: "${file} > empty" asserts nothing`],
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

describe("a describe", () => {
  const proof = `\`${file} > the bus\``;

  it.each([
    [
      "needs a count",
      {},
      [`S1.1: "${file} > the bus" is a describe without a count. Run: node scripts/requirements.ts --count`],
    ],
    ["may hold more tests than it held", { [`${file} > the bus`]: 1 }, []],
    [
      "may not hold fewer",
      { [`${file} > the bus`]: 3 },
      [`S1.1: "${file} > the bus" holds 2 tests, and held 3 when it was named (docs/requirements-tests.json)`],
    ],
  ])("%s", (_what, counts, problems) => {
    expect(checkRequirements(proving(proof, counts), report).problems).toEqual(problems);
  });
});
