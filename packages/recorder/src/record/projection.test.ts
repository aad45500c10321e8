import type { RunStatus } from "@troupe/core";
import type { BailoutReason } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { largeStory, type Scribe, type Story, storyStart } from "../story.test-helper.ts";
import { compaction, draftAfter, entriesOf, intent, summary } from "./draft.test-helper.ts";
import { project, recordBailout } from "./projection.ts";

/** What each entry says about its run, in rows that people read. */

describe("status words", () => {
  const cases: [RunStatus, BailoutReason | null, string, string | null][] = [
    ["completed", null, "completed", null],
    ["failed", null, "failed", null],
    ["cancelled", null, "cancelled", null],
    ["rejected", null, "failed", null],
    ["timeout", "timeout", "timeout", "timeout"],
    ["timeout", null, "timeout", "timeout"],
    ["bailed_out", "timeout", "failed", "timeout"],
    ["bailed_out", "max_iterations", "failed", "max_iterations"],
    ["bailed_out", "max_tool_calls", "failed", "error"],
    ["bailed_out", "max_tokens", "failed", "error"],
    ["bailed_out", "max_cost", "failed", "error"],
    ["bailed_out", "max_context", "failed", "error"],
  ];
  it.each(cases)("%s (%s) is recorded as %s, stopped by %s", (status, bailoutReason, recorded, reason) => {
    const draft = draftAfter((root) => root.opened().settled({ status, bailoutReason }));
    expect(draft).toMatchObject({ status: recorded, exactStatus: status, exactBailout: bailoutReason });
    expect(recordBailout(draft)).toBe(reason);
    expect(draft.metadata).toMatchObject({ status, bailout_reason: bailoutReason });
  });
});

describe("a run that delegates", () => {
  const batch = (root: Scribe, story: Story, ...agents: string[]): Scribe[] => {
    root.opened().replied([
      ["delegate", { tasks: [] }],
      ["delegate", { agent: "x" }],
    ]);
    const children = agents.map((agent, item) => story.planned(agent, { item, name: `the ${agent}` }));
    root.planned(children, [[1, "delegate", "nobody of that name"]]);
    return children.map((planned) => story.run({ agent: planned.agent, parent: root, planned }));
  };
  const failed = { success: false, status: "failed", summary: "red" } as const;

  it("shows a refused call with its error, before anything has started", () => {
    const draft = draftAfter((root, story) => void batch(root, story, "coder"));
    const error = "nobody of that name";
    expect(draft.toolCalls).toMatchObject([
      { call: 0, outcome: null, children: [{ agent: "coder", outcome: null }] },
      { call: 1, outcome: { ok: false, output: "", error, in_doubt: false }, duration_ms: 0 },
    ]);
  });

  it("leaves the calls of earlier turns as they are", () => {
    const draft = draftAfter((root, story) => {
      const [coder] = batch(root, story, "coder");
      if (coder) root.childSettled({ call: 0 }, coder.response());
      root.replied([["delegate", { agent: "y" }]]).planned([], [[0, "delegate", "no"]]);
    });
    expect(draft.toolCalls.map(({ step, outcome }) => [step, outcome?.error])).toEqual([
      [1, null],
      [1, "nobody of that name"],
      [2, "no"],
    ]);
  });

  it("keeps what each child of a batch has answered, and sums the call up once all have", () => {
    const tell = (root: Scribe, story: Story, count: number): void => {
      const [coder, tester] = batch(root, story, "coder", "tester");
      if (count > 0 && tester) root.childSettled({ call: 0, item: 1 }, tester.response(failed));
      if (count > 1 && coder) root.childSettled({ call: 0, item: 0 }, coder.response());
    };
    const one = draftAfter((root, story) => tell(root, story, 1));
    expect(one.toolCalls[0]).toMatchObject({
      outcome: null,
      children: [{ outcome: null }, { outcome: { ok: false } }],
    });
    expect(one.activity).toBe("waits for 1 child");
    const both = draftAfter((root, story) => tell(root, story, 2));
    expect(both.toolCalls[0]).toMatchObject({
      outcome: { ok: false, output: "the coder: coder is done\nthe tester: red", error: "1 of 2 did not succeed" },
      duration_ms: null,
      children: [
        { name: "the coder", outcome: { ok: true, output: "coder is done" }, duration_ms: 4_500 },
        { name: "the tester", outcome: { ok: false, output: "red" }, duration_ms: 4_500 },
      ],
    });
  });

  it("lets a later attempt of a child take the place of an earlier one, by whichever agent and run", () => {
    const again = { agent: "", run: "" };
    const draft = draftAfter((root, story) => {
      const [coder] = batch(root, story, "coder");
      if (coder) root.childSettled({ call: 0 }, coder.response(failed));
      const debug = story.run({ agent: "debugger", parent: root, attempt: 2 });
      again.run = debug.request.run;
      root.childSettled({ call: 0, attempt: 2 }, debug.response());
    });
    const outcome = { ok: true, output: "debugger is done", error: null, in_doubt: false };
    expect(draft.toolCalls[0]).toMatchObject({
      outcome,
      duration_ms: 4_500,
      children: [{ agent: "debugger", run_id: again.run, outcome }],
    });
  });

  it("shows the outcome of a child that it had not planned", () => {
    const draft = draftAfter((root, story) => {
      root.opened().replied([["delegate", { agent: "coder" }]]);
      root.childSettled({ call: 0 }, story.run({ agent: "coder", parent: root }).response());
    });
    expect(draft.toolCalls[0]).toMatchObject({ outcome: { ok: true, output: "coder is done" } });
    expect(draft.toolCalls[0]).not.toHaveProperty("children");
  });
});

describe("what a run costs", () => {
  const usage = { inputTokens: 30, outputTokens: 3, cachedTokens: 0, costUsd: 0.25 };
  const cases: [string, number | null, (root: Scribe) => unknown][] = [
    ["has called no model", 0, (root) => root.opened()],
    ["has paid for two replies", 0.75, (root) => root.opened().replied([], [1, 1], 0.25).replied([], [1, 1], 0.5)],
    [
      "does not know the price of one",
      null,
      (root) => root.opened().replied([], [1, 1], null).replied([], [1, 1], 0.5),
    ],
    [
      "used no tokens at an unknown price",
      0.5,
      (root) => root.opened().replied([], [0, 0], null).replied([], [1, 1], 0.5),
    ],
    ["summed up its conversation", 0.25, (root) => root.opened().write({ ...summary, usage })],
    ["made room by a summary", 0.25, (root) => root.opened().write({ ...compaction, usage })],
    ["understood its request by a model", 0.25, (root) => root.opened().write({ ...intent, usage })],
    ["understood its request by itself", 0, (root) => root.opened().write({ ...intent, usage: null })],
    ["has settled", null, (root) => root.opened().replied([], [1, 1], 0.5).settled()],
  ];
  it.each(cases)("that %s: %s dollars", (_what, costUsd, tell) => {
    expect(draftAfter((root) => void tell(root)).costUsd).toBe(costUsd);
  });

  it("is counted in tokens as well, whatever they were used for", () => {
    const draft = draftAfter((root) =>
      root
        .opened()
        .write({ ...intent, usage })
        .replied([])
        .write({ ...summary, usage }),
    );
    expect(draft).toMatchObject({ inputTokens: 160, outputTokens: 16, totalTokens: 176 });
  });
});

describe("a run that works", () => {
  it("shows what it was opened with", () => {
    const draft = draftAfter((root) => root.opened({}, { tokens: 50_000 }));
    expect(draft).toMatchObject({
      agent: "main",
      depth: 0,
      status: "running",
      model: "demo/pinned",
      systemPrompt: "main@0123456789ab",
      maxIterations: 12,
      maxDurationMs: 60_000,
      maxToolCalls: 30,
      budget: { tokens: 50_000, costUsd: null, toolCalls: null, spawns: null },
      startedAt: new Date(storyStart + 1_000).toISOString(),
      completedAt: null,
      durationMs: null,
      totalTokens: null,
    });
  });

  it("adds up tokens, steps, calls and files as they come", () => {
    const draft = draftAfter((root) =>
      root
        .opened()
        .replied([["write", { path: "a" }]], [100, 10])
        .finished(0, { filesCreated: ["a"] })
        .replied([["edit", { path: "a" }]], [200, 20])
        .finished(0, { filesModified: ["a", "b"] }),
    );
    expect(draft).toMatchObject({ inputTokens: 300, outputTokens: 30, totalTokens: 330, iterations: 2 });
    expect(draft).toMatchObject({ toolCallCount: 2, files: ["a", "b"], model: "demo/answered" });
  });

  it("pairs each tool call with its own outcome, whatever order they end in", () => {
    const draft = draftAfter((root) =>
      root
        .opened()
        .replied([
          ["read", { path: "a" }],
          ["read", { path: "b" }],
        ])
        .finished(1, { output: "second", durationMs: 3 }),
    );
    const outcome = { ok: true, output: "second", error: null, in_doubt: false };
    expect(draft.toolCalls).toEqual([
      { step: 1, call: 0, name: "read", args: { path: "a" }, outcome: null, duration_ms: null },
      { step: 1, call: 1, name: "read", args: { path: "b" }, outcome, duration_ms: 3 },
    ]);
  });

  it("cuts what is too long to look at", () => {
    const draft = draftAfter((root) =>
      root
        .opened()
        .replied([["write", { content: "x".repeat(9_000) }]])
        .finished(0, { output: "y".repeat(9_000) }),
    );
    expect(JSON.stringify(draft.toolCalls).length).toBeLessThan(7_000);
  });

  it("takes the numbers of the response as final, and never changes again", () => {
    const settled = draftAfter((root) =>
      root
        .opened()
        .replied([])
        .settled({ filesCreated: ["x"], warnings: ["w"] }),
    );
    expect(settled).toMatchObject({
      iterations: 2,
      toolCallCount: 3,
      totalTokens: 220,
      contextTokens: 300,
      durationMs: 4_500,
      files: ["x"],
      warnings: ["w"],
      summary: "main is done",
      details: "all that main has to say",
    });
    const after = draftAfter((root) =>
      root
        .opened()
        .replied([])
        .settled({ filesCreated: ["x"], warnings: ["w"] })
        .replied([["write", {}]]),
    );
    expect({ ...after, headIndex: 0, headHash: "" }).toEqual({ ...settled, headIndex: 0, headHash: "" });
  });

  it("has nothing to say of a run that it has not seen open", () => {
    const later = entriesOf(largeStory()).filter(({ kind }) => kind !== "run.opened");
    expect(new Set(later.map((entry) => project(null, entry)))).toEqual(new Set([null]));
  });
});
