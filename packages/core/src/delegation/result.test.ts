/** The results of children that a parent's model reads. */
import { describe, expect, test } from "vitest";
import { anError, aRequest, aResponse } from "../machines/fixtures.test-helper.ts";
import { notStartedResponse, RunResponse } from "../protocol/response.ts";
import type { BatchPolicy } from "./arguments.ts";
import { batchResultOf, batchSucceeded, firstResultOf, laterResultOf, resultOf } from "./result.ts";

const good = { name: "a", response: aResponse({ summary: "fine" }) };
const bad = { name: "b", response: aResponse({ error: anError({ message: "broke" }) }) };

describe("one result", () => {
  test("names the agent and its run, in the format of the delegation tool", () => {
    expect(resultOf(good.response)).toMatchObject({
      agent: "helper",
      run_id: good.response.runId,
      status: "completed",
      summary: "fine",
    });
  });

  test("has at most as much text as fits the parent, and reports the truncation", () => {
    expect(resultOf(aResponse({ details: "x".repeat(20_000) }))).not.toHaveProperty("details_truncated");
    const { details, details_truncated } = resultOf(aResponse({ details: "x".repeat(20_001) }));
    expect([String(details).length, details_truncated]).toEqual([20_001, true]);
  });
});

describe("all results of a batch", () => {
  const quorum = (count: number): BatchPolicy => ({ kind: "quorum", count });
  test.each<[BatchPolicy, number, number, boolean]>([
    [{ kind: "all" }, 2, 0, true],
    [{ kind: "all" }, 2, 1, false],
    [{ kind: "any" }, 1, 3, true],
    [{ kind: "any" }, 0, 3, false],
    [{ kind: "continue" }, 1, 3, true],
    [{ kind: "continue" }, 0, 3, false],
    [quorum(2), 2, 2, true],
    [quorum(2), 1, 3, false],
  ])("under %j, %i successes and %i failures: %j", (policy, successes, failures, isSuccess) => {
    const results = [...Array(successes).fill(good), ...Array(failures).fill(bad)];
    expect(batchSucceeded(policy, results)).toBe(isSuccess);
    expect(batchResultOf(policy, results)).toMatchObject({
      outcome: isSuccess ? "completed" : "failed",
      succeeded: successes,
      failed: failures,
    });
  });

  test("have the policy, and every task in its order", () => {
    expect(batchResultOf(quorum(1), [bad, good])).toMatchObject({
      policy: "quorum 1",
      results: [
        { name: "b", status: "failed" },
        { name: "a", status: "completed" },
      ],
    });
  });
});

describe("streamed results", () => {
  const running = [{ handle: "1.0.1", name: "b", agent: "helper" }];

  test("the first one lists the running tasks, and how to stop them", () => {
    expect(firstResultOf(good, running)).toMatchObject({
      first: { name: "a", summary: "fine" },
      running,
      note: expect.stringContaining("cancel"),
    });
  });

  test("a later one names its task", () => {
    const [head, json] = laterResultOf("1.0.0", good, running).split("\n");
    expect(head).toBe("The task a (1.0.0) has ended. Still running: 1.0.1.");
    expect(JSON.parse(json ?? "")).toMatchObject({ summary: "fine" });
    expect(laterResultOf("1.0.0", good, [])).toContain("None is left.");
  });
});

test("a child that never started has a complete response without usage", () => {
  const error = anError({ type: "cancelled", message: "x".repeat(600) });
  const response = notStartedResponse(aRequest({ agent: "helper" }), "cancelled", error);
  expect(RunResponse.parse(response)).toEqual(response);
  expect(response).toMatchObject({ status: "cancelled", success: false, agent: "helper", error });
  expect(response.metrics.subtree).toEqual({
    runs: 0,
    iterations: 0,
    toolCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    costUsd: 0,
  });
});
