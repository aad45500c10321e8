import { describe, expect, test } from "vitest";
import { anError, aResponse } from "../machines/fixtures.test-helper.ts";
import { RunResponse, toDelegationResult } from "./response.ts";

describe("what a parent's model reads of a child", () => {
  test("a success: the words of the delegation tool, and no more", () => {
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

  test("a failure says what went wrong, in the same words", () => {
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

test("a summary over 500 characters is no response", () => {
  expect(RunResponse.safeParse(aResponse({ summary: "x".repeat(500) })).success).toBe(true);
  expect(RunResponse.safeParse(aResponse({ summary: "x".repeat(501) })).success).toBe(false);
});

describe("a response of a run that knew of no budgets", () => {
  const { charged: _charged, waitedMs: _waitedMs, ...metrics } = aResponse().metrics;
  const read = RunResponse.parse({ ...aResponse(), metrics });

  test("charges nothing, and has not waited", () => {
    expect(read.metrics.charged).toEqual({ tokens: 0, costUsd: 0, toolCalls: 0, spawns: 0 });
    expect(read.metrics.waitedMs).toBe(0);
  });
});

test("a run may end because it goes in circles", () => {
  expect(RunResponse.parse(aResponse({ bailoutReason: "repeated_calls" })).bailoutReason).toBe("repeated_calls");
});

test.each([
  ["a negative number of tokens", { tokens: -1 }],
  ["half a run", { spawns: 0.5 }],
  ["a refund", { costUsd: -0.01 }],
])("%s cannot be charged", (_, charged) => {
  expect(RunResponse.safeParse(aResponse({ charged })).success).toBe(false);
});

test("an unknown price is charged as unknown, not as nothing", () => {
  expect(RunResponse.parse(aResponse({ charged: { costUsd: null } })).metrics.charged.costUsd).toBeNull();
});
