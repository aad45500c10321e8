import type { TestSuite } from "../../protocol/response.ts";
import type { TestCounts, ToolCall } from "../../protocol/tool.ts";
import { repeatKey } from "./loop-detection.ts";

/**
 * The suites after one more run. Whoever reads `testsRun` wants to know how the tests stand, not how often they were run:
 * the same tests, run again, are not counted twice. A run that could not be counted says nothing, and what an older one
 * said holds no more.
 */
export function withTestRun(suites: TestSuite[], call: ToolCall, counts: TestCounts | null): TestSuite[] {
  const suite = repeatKey(call);
  if (counts) return withSuites(suites, [{ suite, run: counts.run, passed: counts.passed }]);
  return suites.some((known) => known.suite === suite) ? suites.filter((known) => known.suite !== suite) : suites;
}

/** Newer runs take the places of older ones. */
export function withSuites(suites: TestSuite[], newer: readonly TestSuite[]): TestSuite[] {
  if (newer.length === 0) return suites;
  const names = new Set(newer.map(({ suite }) => suite));
  return [...suites.filter(({ suite }) => !names.has(suite)), ...newer];
}

export function testsOf(testSuites: TestSuite[]) {
  return {
    testsRun: testSuites.reduce((sum, { run }) => sum + run, 0),
    testsPassed: testSuites.reduce((sum, { passed }) => sum + passed, 0),
    testSuites,
  };
}
