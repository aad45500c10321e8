import type { BailoutReason, Entry, RunStatus } from "@troupe/core";
import { openEntry } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { createStory, largeStory, type Scribe, type Story, storyStart } from "../story.test-helper.ts";
import type { RunDraft } from "./draft.ts";
import { project, recordBailout } from "./projection.ts";

/** What each entry says about its run, in rows that people read. */

function draftAfter(tell: (root: Scribe, story: Story) => void): RunDraft {
  const story = createStory();
  tell(story.run({ agent: "main" }), story);
  const draft = entriesOf(story).reduce<RunDraft | null>(project, null);
  if (!draft) throw new Error("nothing was opened");
  return draft;
}

function entriesOf(story: Story): Entry[] {
  return story.feed.filter(({ kind }) => kind === "entry").map(({ text }) => openEntry(text));
}

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

describe("activity", () => {
  const delegations: [string, { agent: string; task: string }][] = [
    ["delegate", { agent: "coder", task: "code" }],
    ["Task", { agent: "tester", task: "test" }],
  ];
  const error = { type: "network", message: "no route", tool: null, recoverable: true, retryAfterMs: null } as const;
  const cases: [string, (root: Scribe, story: Story) => void][] = [
    ["started", (root) => root.opened()],
    ["resumed", (root) => root.opened().write({ kind: "run.claimed", reason: "resumed" })],
    ["taken over by another host", (root) => root.opened().write({ kind: "run.claimed", reason: "taken_over" })],
    ["called model", (root) => root.opened().replied([])],
    ["write hello.md", (root) => root.opened().replied([["write", { path: "hello.md", content: "hi" }]])],
    ["delegated to coder, tester", (root) => root.opened().replied(delegations)],
    ["delegated to coder, tester, ls", (root) => root.opened().replied([...delegations, ["ls", null]])],
    [
      "model call failed: no route",
      (root) => root.opened().write({ kind: "model.failed", step: 1, error, durationMs: 1 }),
    ],
    [
      "shell npm test",
      (root) =>
        root
          .opened()
          .replied([["shell", { command: "npm  test\n" }]])
          .finished(0),
    ],
    [
      "shell x: no route",
      (root) =>
        root
          .opened()
          .replied([["shell", { command: "x" }]])
          .finished(0, { error }),
    ],
    [
      "shell x: in doubt",
      (root) =>
        root
          .opened()
          .replied([["shell", { command: "x" }]])
          .finished(0, { inDoubt: true }),
    ],
    ["waits for 1 child", (root, story) => settleChild(root.opened().replied(delegations), story)],
    [
      "heard from coder: completed",
      (root, story) => settleChild(root.opened().replied(delegations.slice(0, 1)), story),
    ],
    ["parked until the next start", (root) => root.opened().write({ kind: "run.parked", reason: "drain" })],
    ["verified", (root) => root.opened().write({ kind: "verify.finished", round: 1, failures: [] })],
    [
      "check failed: no file",
      (root) => root.opened().write({ kind: "verify.finished", round: 1, failures: ["no file"] }),
    ],
    ["called model", (root) => root.opened().replied([]).write({ kind: "timer.fired", timer: "t" })],
    ["completed", (root) => root.opened().settled()],
    ["bailed_out: max_tokens", (root) => root.opened().settled({ status: "bailed_out", bailoutReason: "max_tokens" })],
    ["a [31mred word", (root) => root.opened().replied([["a", { path: "\u001b[31mred\u0007 word" }]])],
  ];
  it.each(cases)("says %j", (activity, tell) => {
    expect(draftAfter(tell).activity).toBe(activity);
  });

  it("stays short, whatever a model writes", () => {
    const draft = draftAfter((root) => root.opened().replied([["shell", { command: "x".repeat(5_000) }]]));
    expect(draft.activity).toHaveLength(120);
  });

  function settleChild(root: Scribe, story: Story): void {
    const child = story.run({ agent: "coder", parent: root });
    root.write({ kind: "child.settled", step: 1, call: 0, attempt: 1, response: child.response() });
  }
});

describe("a run that waits", () => {
  it("is running for the record, and parked in the machine's own word, until it is claimed again", () => {
    const parked = draftAfter((root) => root.opened().write({ kind: "run.parked", reason: "drain" }));
    expect(parked).toMatchObject({ status: "running", exactStatus: "parked", metadata: { status: "parked" } });
    const resumed = draftAfter((root) =>
      root.opened().write({ kind: "run.parked", reason: "drain" }).write({ kind: "run.claimed", reason: "resumed" }),
    );
    expect(resumed).toMatchObject({ status: "running", exactStatus: "running", metadata: { status: "running" } });
  });
});

describe("a run that works", () => {
  it("shows what it was opened with", () => {
    const draft = draftAfter((root) => root.opened());
    expect(draft).toMatchObject({
      agent: "main",
      depth: 0,
      status: "running",
      model: "demo/pinned",
      systemPrompt: "main@0123456789ab",
      maxIterations: 12,
      maxDurationMs: 60_000,
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
