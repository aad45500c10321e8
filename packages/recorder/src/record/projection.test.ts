import type { RunStatus } from "@troupe/core";
import type { BailoutReason } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { type FeedBuilder, feedStartMs, largeSession, type RunBuilder } from "../feed-builder.test-helper.ts";
import { project } from "./projection.ts";
import { compaction, entriesOf, intent, recordAfter, summary } from "./run-record.test-helper.ts";
import { bailoutWord } from "./run-table.ts";

/** The effect of each entry on the record of its run. */

describe("status words", () => {
  const cases: [RunStatus, BailoutReason | null, string, string | null][] = [
    ["completed", null, "completed", null],
    ["failed", null, "failed", null],
    ["cancelled", null, "cancelled", null],
    ["rejected", null, "failed", null],
    ["timeout", "timeout", "timeout", "timeout"],
    ["timeout", null, "timeout", "timeout"],
    ["bailed_out", null, "failed", "error"],
    ["bailed_out", "timeout", "failed", "timeout"],
    ["bailed_out", "max_iterations", "failed", "max_iterations"],
    ["bailed_out", "max_tool_calls", "failed", "error"],
    ["bailed_out", "max_tokens", "failed", "error"],
    ["bailed_out", "max_cost", "failed", "error"],
    ["bailed_out", "max_context", "failed", "error"],
  ];
  it.each(cases)("%s (%s) is recorded as %s, stopped by %s", (status, bailoutReason, recorded, reason) => {
    const after = recordAfter((root) => root.opened().settled({ status, bailoutReason }));
    expect(after).toMatchObject({ status: recorded, exactStatus: status, bailoutReason });
    expect(bailoutWord(after)).toBe(reason);
    expect(after.metadata).toMatchObject({ status, bailout_reason: bailoutReason });
  });
});

it.each([0, 0.8, null])("a confidence of %s is recorded", (confidence) => {
  expect(recordAfter((root) => root.opened()).confidence).toBeNull();
  expect(recordAfter((root) => root.opened().settled({ confidence })).confidence).toBe(confidence);
});

describe("a run that delegates", () => {
  const batch = (root: RunBuilder, builder: FeedBuilder, ...agents: string[]): RunBuilder[] => {
    root.opened().replied([
      ["delegate", { tasks: [] }],
      ["delegate", { agent: "x" }],
    ]);
    const children = agents.map((agent, item) => builder.planned(agent, { item, name: `the ${agent}` }));
    root.planned(children, [[1, "delegate", "no agent of that name"]]);
    return children.map((planned) => builder.run({ agent: planned.agent, parent: root, planned }));
  };
  const failed = { success: false, status: "failed", summary: "red" } as const;

  it("shows a refused call with its error, before any child has started", () => {
    const after = recordAfter((root, builder) => void batch(root, builder, "coder"));
    const error = "no agent of that name";
    expect(after.calls).toMatchObject([
      { call: 0, outcome: null, children: [{ agent: "coder", outcome: null }] },
      { call: 1, outcome: { ok: false, output: "", error, in_doubt: false }, duration_ms: 0 },
    ]);
  });

  it("leaves the calls of earlier turns as they are", () => {
    const after = recordAfter((root, builder) => {
      const [coder] = batch(root, builder, "coder");
      if (coder) root.childSettled({ call: 0 }, coder.response());
      root.replied([["delegate", { agent: "y" }]]).planned([], [[0, "delegate", "no"]]);
    });
    expect(after.calls.map(({ step, outcome }) => [step, outcome?.error])).toEqual([
      [1, null],
      [1, "no agent of that name"],
      [2, "no"],
    ]);
  });

  it("keeps the result of each child of a batch, and sums up the call once all have settled", () => {
    const write = (root: RunBuilder, builder: FeedBuilder, count: number): void => {
      const [coder, tester] = batch(root, builder, "coder", "tester");
      if (count > 0 && tester) root.childSettled({ call: 0, item: 1 }, tester.response(failed));
      if (count > 1 && coder) root.childSettled({ call: 0, item: 0 }, coder.response());
    };
    const one = recordAfter((root, builder) => write(root, builder, 1));
    expect(one.calls[0]).toMatchObject({
      outcome: null,
      children: [{ outcome: null }, { outcome: { ok: false } }],
    });
    expect(one.activity).toBe("waits for 1 child");
    const both = recordAfter((root, builder) => write(root, builder, 2));
    expect(both.calls[0]).toMatchObject({
      outcome: { ok: false, output: "the coder: coder is done\nthe tester: red", error: "1 of 2 did not succeed" },
      duration_ms: null,
      children: [
        { name: "the coder", outcome: { ok: true, output: "coder is done" }, duration_ms: 4_500 },
        { name: "the tester", outcome: { ok: false, output: "red" }, duration_ms: 4_500 },
      ],
    });
  });

  it("replaces an earlier attempt of a child by a later one, of any agent and run", () => {
    const again = { agent: "", run: "" };
    const after = recordAfter((root, builder) => {
      const [coder] = batch(root, builder, "coder");
      if (coder) root.childSettled({ call: 0 }, coder.response(failed));
      const debug = builder.run({ agent: "debugger", parent: root, attempt: 2 });
      again.run = debug.request.run;
      root.childSettled({ call: 0, attempt: 2 }, debug.response());
    });
    const outcome = { ok: true, output: "debugger is done", error: null, in_doubt: false };
    expect(after.calls[0]).toMatchObject({
      outcome,
      duration_ms: 4_500,
      children: [{ agent: "debugger", run_id: again.run, outcome }],
    });
  });

  it("shows the outcome of an unplanned child", () => {
    const after = recordAfter((root, builder) => {
      root.opened().replied([["delegate", { agent: "coder" }]]);
      root.childSettled({ call: 0 }, builder.run({ agent: "coder", parent: root }).response());
    });
    expect(after.calls[0]).toMatchObject({ outcome: { ok: true, output: "coder is done" } });
    expect(after.calls[0]).not.toHaveProperty("children");
  });
});

describe("the cost of a run", () => {
  const usage = { inputTokens: 30, outputTokens: 3, cachedTokens: 0, costUsd: 0.25 };
  const cases: [string, number | null, (root: RunBuilder) => unknown][] = [
    ["has called no model", 0, (root) => root.opened()],
    ["has two paid replies", 0.75, (root) => root.opened().replied([], [1, 1], 0.25).replied([], [1, 1], 0.5)],
    [
      "has an unknown price of one reply",
      null,
      (root) => root.opened().replied([], [1, 1], null).replied([], [1, 1], 0.5),
    ],
    [
      "used no tokens at an unknown price",
      0.5,
      (root) => root.opened().replied([], [0, 0], null).replied([], [1, 1], 0.5),
    ],
    ["has a summary of its conversation", 0.25, (root) => root.opened().write({ ...summary, usage })],
    ["has a summary as compaction", 0.25, (root) => root.opened().write({ ...compaction, usage })],
    ["has an assessment of its request by a model", 0.25, (root) => root.opened().write({ ...intent, usage })],
    ["has an assessment of its request without a model", 0, (root) => root.opened().write({ ...intent, usage: null })],
    ["has settled", null, (root) => root.opened().replied([], [1, 1], 0.5).settled()],
  ];
  it.each(cases)("that %s: %s dollars", (_what, costUsd, write) => {
    expect(recordAfter((root) => void write(root)).costUsd).toBe(costUsd);
  });

  it("is counted in tokens as well, for any use of them", () => {
    const after = recordAfter((root) =>
      root
        .opened()
        .write({ ...intent, usage })
        .replied([])
        .write({ ...summary, usage }),
    );
    expect(after).toMatchObject({ inputTokens: 160, outputTokens: 16, totalTokens: 176 });
  });
});

describe("a running run", () => {
  it("shows the fields of its opening", () => {
    const after = recordAfter((root) => root.opened({}, { tokens: 50_000 }));
    expect(after).toMatchObject({
      agent: "main",
      depth: 0,
      status: "running",
      model: "demo/pinned",
      systemPrompt: "main@0123456789ab",
      maxIterations: 12,
      maxDurationMs: 60_000,
      maxToolCalls: 30,
      budget: { tokens: 50_000, costUsd: null, toolCalls: null, spawns: null },
      startedAt: new Date(feedStartMs + 1_000).toISOString(),
      completedAt: null,
      durationMs: null,
      totalTokens: 0,
    });
  });

  it("adds up tokens, steps, calls and files as they arrive", () => {
    const after = recordAfter((root) =>
      root
        .opened()
        .replied([["write", { path: "a" }]], [100, 10])
        .finished(0, { filesCreated: ["a"] })
        .replied([["edit", { path: "a" }]], [200, 20])
        .finished(0, { filesModified: ["a", "b"] }),
    );
    expect(after).toMatchObject({ inputTokens: 300, outputTokens: 30, totalTokens: 330, iterations: 2 });
    expect(after).toMatchObject({ toolCalls: 2, filesModified: ["a", "b"], model: "demo/answered" });
  });

  it("pairs each tool call with its own outcome, in any order of their ends", () => {
    const after = recordAfter((root) =>
      root
        .opened()
        .replied([
          ["read", { path: "a" }],
          ["read", { path: "b" }],
        ])
        .finished(1, { output: "second", durationMs: 3 }),
    );
    const outcome = { ok: true, output: "second", error: null, in_doubt: false };
    expect(after.calls).toEqual([
      { step: 1, call: 0, name: "read", args: { path: "a" }, outcome: null, duration_ms: null },
      { step: 1, call: 1, name: "read", args: { path: "b" }, outcome, duration_ms: 3 },
    ]);
  });

  it("truncates texts that are too long to show", () => {
    const after = recordAfter((root) =>
      root
        .opened()
        .replied([["write", { content: "x".repeat(9_000) }]])
        .finished(0, { output: "y".repeat(9_000) }),
    );
    expect(JSON.stringify(after.calls).length).toBeLessThan(7_000);
  });

  it("takes the numbers of the response as final, and never changes again", () => {
    const settled = recordAfter((root) =>
      root
        .opened()
        .replied([])
        .settled({ filesCreated: ["x"], warnings: ["w"] }),
    );
    expect(settled).toMatchObject({
      iterations: 2,
      toolCalls: 3,
      totalTokens: 220,
      contextTokens: 300,
      durationMs: 4_500,
      filesModified: ["x"],
      warnings: ["w"],
      summary: "main is done",
      details: "all that main has to say",
    });
    const after = recordAfter((root) =>
      root
        .opened()
        .replied([])
        .settled({ filesCreated: ["x"], warnings: ["w"] })
        .replied([["write", {}]]),
    );
    expect({ ...after, headIndex: 0, headHash: "" }).toEqual({ ...settled, headIndex: 0, headHash: "" });
  });

  it("is unknown without its opening", () => {
    const later = entriesOf(largeSession()).filter(({ kind }) => kind !== "run.opened");
    expect(new Set(later.map((entry) => project(null, entry)))).toEqual(new Set([null]));
  });
});
