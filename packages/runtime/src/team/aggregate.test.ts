/** Combined responses: failures count, and an unknown price is not zero. */
import type { RunResponse } from "@troupe/core";
import { notStartedResponse } from "@troupe/core/internal";
import { expect, it } from "vitest";
import { rootRequest } from "../host/host-deps.test-helper.ts";
import { aggregate } from "./aggregate.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const error = { type: "params", message: "", tool: null, recoverable: false, retryAfterMs: null } as const;

function response(changes: Partial<RunResponse>, subtree: Partial<RunResponse["metrics"]["subtree"]> = {}) {
  const base = notStartedResponse(rootRequest({ run }), "completed", error);
  const metrics = { ...base.metrics, subtree: { ...base.metrics.subtree, runs: 1, ...subtree } };
  return { ...base, error: null, success: true, ...changes, metrics };
}

const responses = [
  response(
    { agent: "a", summary: "Two bugs.", findings: ["bug 1", "bug 2"], filesModified: ["x.ts"], warnings: ["slow"] },
    { runs: 3, toolCalls: 4, totalTokens: 100, costUsd: 0.5 },
  ),
  response({ agent: "b", success: false, status: "bailed_out", summary: "Stopped.", findings: ["bug 2", "bug 3"] }),
  response(
    { agent: "a", summary: "Fine.", filesCreated: ["y.ts"], filesModified: ["x.ts"] },
    { toolCalls: 1, totalTokens: 20, costUsd: 0.25 },
  ),
];

it("counts and adds up", () => {
  expect(aggregate(responses)).toEqual({
    success: false,
    succeeded: 2,
    failed: 1,
    summary: "a: Two bugs.\n\nb (bailed out): Stopped.\n\na: Fine.",
    findings: [],
    filesCreated: ["y.ts"],
    filesModified: ["x.ts"],
    filesDeleted: [],
    warnings: ["slow"],
    runs: 5,
    toolCalls: 5,
    totalTokens: 120,
    costUsd: 0.75,
  });
});

it("returns findings if asked, without duplicates", () => {
  const { summary, findings } = aggregate(responses, { findings: true });
  expect(findings).toEqual(["bug 1", "bug 2", "bug 3"]);
  expect(summary).toBe("a: Two bugs.\n- bug 1\n- bug 2\n\nb (bailed out): Stopped.\n- bug 2\n- bug 3\n\na: Fine.");
});

it("has an unknown total cost if one cost is unknown", () => {
  expect(aggregate([...responses, response({}, { costUsd: null })]).costUsd).toBeNull();
});

it("of no responses is empty and successful", () => {
  expect(aggregate([])).toMatchObject({ success: true, succeeded: 0, failed: 0, summary: "", costUsd: 0 });
});
