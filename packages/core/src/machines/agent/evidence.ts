import type { RunResponse, TestSuite } from "../../protocol/response.ts";
import type { TestCounts, ToolCall } from "../../protocol/tool.ts";
import { callKey } from "./loop-detection.ts";

/** Files changed by a run. A file is in one of the three lists. */
export interface ChangedFiles {
  filesCreated: string[];
  filesModified: string[];
  filesDeleted: string[];
}

/** Adds changes. A deleted file leaves the other lists, and a file that is created or modified again leaves `filesDeleted`. */
export function withFiles(known: ChangedFiles, added: ChangedFiles): ChangedFiles {
  const { filesCreated, filesModified, filesDeleted } = added;
  return {
    filesCreated: union(without(known.filesCreated, filesDeleted), filesCreated),
    filesModified: union(without(known.filesModified, filesDeleted), filesModified),
    filesDeleted: union(without(known.filesDeleted, [...filesCreated, ...filesModified]), filesDeleted),
  };
}

/**
 * Records a run of a test suite. `testsRun` says how the tests stand, not how often they ran, so a suite that runs again
 * replaces its older counts. A run without counts removes them: they no longer hold.
 */
export function withTestRun(suites: TestSuite[], call: ToolCall, counts: TestCounts | null): TestSuite[] {
  const suite = callKey(call);
  if (counts) return withSuites(suites, [{ suite, run: counts.run, passed: counts.passed }]);
  return suites.some((known) => known.suite === suite) ? suites.filter((known) => known.suite !== suite) : suites;
}

/** Replaces older runs of the same suites. */
export function withSuites(suites: TestSuite[], newer: readonly TestSuite[]): TestSuite[] {
  if (newer.length === 0) return suites;
  const names = new Set(newer.map(({ suite }) => suite));
  return [...suites.filter(({ suite }) => !names.has(suite)), ...newer];
}

export function testTotals(testSuites: TestSuite[]) {
  return {
    testsRun: testSuites.reduce((sum, { run }) => sum + run, 0),
    testsPassed: testSuites.reduce((sum, { passed }) => sum + passed, 0),
    testSuites,
  };
}

type Artifacts = RunResponse["artifacts"];

export function withArtifacts(known: Artifacts, added: Artifacts): Artifacts {
  const fresh = added.filter(({ name, ref }) => !known.some((one) => one.name === name && one.ref === ref));
  return fresh.length === 0 ? known : [...known, ...fresh];
}

/** Appends the missing items; returns the same list if none is missing. */
export function union(list: string[], added: readonly string[]): string[] {
  return added.every((item) => list.includes(item)) ? list : [...new Set([...list, ...added])];
}

function without(list: string[], removed: readonly string[]): string[] {
  return list.some((item) => removed.includes(item)) ? list.filter((item) => !removed.includes(item)) : list;
}
