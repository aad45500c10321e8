import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/** One test of vitest's JSON report. */
export interface TestResult {
  /** Relative to the checkout. */
  file: string;
  /** The names of the describes around it and its own, outermost first. */
  titles: string[];
  status: "passed" | "failed" | "skipped";
  /** The matchers that the test called; test/harness/count-assertions.ts counts them. */
  assertions: number;
}

export interface TestReport {
  tests: TestResult[];
  /** Files that failed outside of any test (they did not load, or a hook threw), with the reason. */
  brokenFiles: { file: string; message: string }[];
}

/** The fields of the report that this module reads; vitest writes more. */
interface RawReport {
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { ancestorTitles: string[]; title: string; status: string; meta?: { assertions?: number } }[];
  }[];
}

/** Null when there is no report: vitest did not get as far as writing one. */
export function readReport(file: string, root: string): TestReport | null {
  if (!existsSync(file)) return null;
  const { testResults } = JSON.parse(readFileSync(file, "utf8")) as RawReport;
  const tests: TestResult[] = [];
  const brokenFiles: TestReport["brokenFiles"] = [];
  for (const result of testResults) {
    const path = relative(root, result.name);
    const own = result.assertionResults.map(({ ancestorTitles, title, status, meta }) => ({
      file: path,
      titles: [...ancestorTitles, title],
      status: toStatus(status),
      assertions: meta?.assertions ?? 0,
    }));
    tests.push(...own);
    if (result.status === "failed" && !own.some((test) => test.status === "failed")) {
      brokenFiles.push({ file: path, message: result.message?.split("\n")[0] || "failed outside of its tests" });
    }
  }
  return { tests, brokenFiles };
}

/** vitest also says pending, todo and disabled: none of them ran. */
function toStatus(status: string): TestResult["status"] {
  return status === "passed" || status === "failed" ? status : "skipped";
}
