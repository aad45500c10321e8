import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "./lib/build.ts";
import { run, say } from "./lib/command.ts";
import { cleanEnvironment, inCi } from "./lib/environment.ts";
import { makeMemoryFolder } from "./lib/memory-folder.ts";
import { fetchNeeds } from "./lib/needs.ts";
import { artifactsFolder, root } from "./lib/project.ts";
import { readPage } from "./lib/requirements-page.ts";
import { readReport, type TestReport } from "./lib/vitest-report.ts";
import { checkRequirements, printRequirements } from "./requirements.ts";

/**
 * `pnpm test`: builds, checks the types of the tests, fetches the programs that tests need, runs all tests, and
 * compares the requirements page with the results. Arguments go on to vitest (`pnpm test packages/core`). The last line
 * is the summary. The exit code is 1 on a failure, and in CI also on a skip.
 */

/** Failures and missing programs outside the tests themselves. */
interface Findings {
  failures: string[];
  skips: string[];
}

const reportFile = join(artifactsFolder, "vitest.json");

async function main(vitestArguments: string[]): Promise<void> {
  const findings: Findings = { failures: [], skips: [] };
  let report: TestReport | null = null;
  if (await build({ onlyIfStale: false })) {
    // Beside the tests, which wait for processes most of the time.
    const types = typeCheck();
    report = await runVitest(vitestArguments, await findPrograms(findings), findings);
    if (!(await types)) findings.failures.push("the types of the tests (tsc -p test/tsconfig.json)");
  } else {
    findings.failures.push("the build");
  }
  if (vitestArguments.length > 0) console.log("requirements: not checked, because not all tests were asked for");
  else if (report) checkPage(report, findings);
  conclude(report, findings);
}

/**
 * One checker: each further one checks the types that they share again, on processors that the tests need. The build has checked
 * the sources of the packages, so `references` of that tsconfig.json lets the tests see their declarations.
 */
async function typeCheck(): Promise<boolean> {
  return (await run(["tsc", "-p", join(root, "test", "tsconfig.json"), "--checkers", "1"])).code === 0;
}

async function findPrograms(findings: Findings): Promise<NodeJS.ProcessEnv> {
  const { env, skips } = await fetchNeeds();
  findings.skips.push(...skips);
  return env;
}

async function runVitest(words: string[], env: NodeJS.ProcessEnv, findings: Findings): Promise<TestReport | null> {
  mkdirSync(dirname(reportFile), { recursive: true });
  // An older report must not pass for this run's.
  rmSync(reportFile, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const memory = makeMemoryFolder();
  const own = memory === null ? {} : { TMPDIR: memory.path };
  const { code } = await run(["vitest", "run", ...reporters, ...words], {
    env: { ...cleanEnvironment(), ...env, ...own },
  });
  memory?.remove();
  const report = readReport(reportFile, root);
  const broken = report?.brokenFiles.map(({ file, message }) => `${file}: ${message}`) ?? [];
  findings.failures.push(...broken);
  // An error that belongs to no test leaves only this trace.
  const explained = broken.length > 0 || report?.tests.some((test) => test.status === "failed");
  if (code !== 0 && !explained) findings.failures.push(`vitest ended with code ${code}, see above`);
  return report;
}

function checkPage(report: TestReport, findings: Findings): void {
  const result = checkRequirements(readPage(root), report, { skipsAllowed: !inCi() });
  printRequirements(result);
  if (result.problems.length > 0) findings.failures.push(`docs/requirements.md, in ${result.problems.length} places`);
}

function conclude(report: TestReport | null, { failures, skips }: Findings): void {
  const tests = report?.tests ?? [];
  const having = (status: string) => tests.filter((test) => test.status === status);
  const skippedTests = having("skipped").map(({ file, titles }) => [file, ...titles].join(" > "));
  for (const skip of [...skippedTests, ...skips]) console.log(`skipped: ${skip}`);
  for (const failure of failures) console.log(`failed: ${failure}`);
  const failed = having("failed").length + failures.length;
  const skipped = skippedTests.length + skips.length;
  if (skipped > 0 && inCi()) say("in CI a skip is a failure");
  process.exitCode = failed > 0 || (skipped > 0 && inCi()) ? 1 : 0;
  console.log(`${having("passed").length} passed, ${failed} failed, ${skipped} skipped`);
}

// pnpm passes on a separating `--`, after which vitest would read options as file names.
const [first, ...others] = process.argv.slice(2);
await main(first === "--" ? others : process.argv.slice(2));
