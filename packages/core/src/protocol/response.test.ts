import { describe, expect, test } from "vitest";
import { anError, aResponse } from "../machines/fixtures.test-helper.ts";
import { RunResponse, toDelegationResult } from "./response.ts";

describe("the result of a child for its parent's model", () => {
  test("a success has the fields of the delegation tool, and no others", () => {
    const response = aResponse({
      summary: "found",
      details: "found it",
      filesModified: ["m"],
      filesCreated: ["c"],
      testsRun: 3,
      testsPassed: 2,
      warnings: ["w"],
      suggestions: ["s"],
    });
    expect(toDelegationResult(response)).toEqual({
      status: "completed",
      summary: "found",
      details: "found it",
      files_modified: ["m"],
      files_created: ["c"],
      tests_run: 3,
      tests_passed: 2,
      warnings: ["w"],
      suggestions: ["s"],
      iteration_count: 1,
      duration_ms: 7,
    });
  });

  test("a stated confidence is passed on", () => {
    expect(toDelegationResult(aResponse({ confidence: 0 }))).toMatchObject({ confidence: 0 });
  });

  test("a failure has its error, in the same format", () => {
    const error = anError({ type: "rate_limit", message: "slow down", retryAfterMs: 500 });
    expect(toDelegationResult(aResponse({ error, bailoutReason: "timeout" }))).toMatchObject({
      status: "failed",
      error: { type: "rate_limit", message: "slow down", tool: null, recoverable: true, retry_after_ms: 500 },
      bailout_reason: "timeout",
    });
  });

  test("every key is snake_case, at every depth", () => {
    const result = toDelegationResult(aResponse({ error: anError(), bailoutReason: "max_cost" }));
    const keys = [...JSON.stringify(result).matchAll(/"(\w+)":/g)].map(([, key]) => key);
    expect(keys.filter((key) => key !== key?.toLowerCase())).toEqual([]);
  });
});

test("a summary over 500 characters is refused", () => {
  expect(RunResponse.safeParse(aResponse({ summary: "x".repeat(500) })).success).toBe(true);
  expect(RunResponse.safeParse(aResponse({ summary: "x".repeat(501) })).success).toBe(false);
});

describe("a response from before budgets", () => {
  const { charged: _charged, waitedMs: _waitedMs, ...metrics } = aResponse().metrics;
  const read = RunResponse.parse({ ...aResponse(), metrics });

  test("has no charge and no wait", () => {
    expect(read.metrics.charged).toEqual({ tokens: 0, costUsd: 0, toolCalls: 0, spawns: 0 });
    expect(read.metrics.waitedMs).toBe(0);
  });
});

test("loop_detected is a valid end of a run", () => {
  expect(RunResponse.parse(aResponse({ bailoutReason: "repeated_calls" })).bailoutReason).toBe("repeated_calls");
});

test.each([
  ["a negative number of tokens", { tokens: -1 }],
  ["half a run", { spawns: 0.5 }],
  ["a refund", { costUsd: -0.01 }],
])("%s is not a valid charge", (_, charged) => {
  expect(RunResponse.safeParse(aResponse({ charged })).success).toBe(false);
});

test("an unknown price is charged as unknown, not as zero", () => {
  expect(RunResponse.parse(aResponse({ charged: { costUsd: null } })).metrics.charged.costUsd).toBeNull();
});
