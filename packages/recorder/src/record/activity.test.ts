import { describe, expect, it } from "vitest";
import type { FeedBuilder, RunBuilder } from "../feed-builder.test-helper.ts";
import { commandFor, compaction, recordAfter, requestShellApproval, summary } from "./run-record.test-helper.ts";

/** The latest activity of a run, in words for users. */

describe("the activity of a run", () => {
  const delegations: [string, { agent: string; task: string }][] = [
    ["delegate", { agent: "coder", task: "code" }],
    ["Task", { agent: "tester", task: "test" }],
  ];
  const error = { type: "network", message: "no route", tool: null, recoverable: true, retryAfterMs: null } as const;
  const cases: [string, (root: RunBuilder, builder: FeedBuilder) => unknown][] = [
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
      "waiting for its model: slow down",
      (root) =>
        root.opened().write({
          kind: "model.failed",
          step: 1,
          error: { ...error, type: "rate_limit", message: "slow down" },
          durationMs: 1,
        }),
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
    ["waits for 1 child", (root, builder) => settleChild(root.opened().replied(delegations), builder)],
    ["coder ended: completed", (root, builder) => settleChild(root.opened().replied(delegations.slice(0, 1)), builder)],
    ["parked until the next start", (root) => root.opened().write({ kind: "run.parked", reason: "drain" })],
    ["verified", (root) => root.opened().write({ kind: "verify.finished", round: 1, failures: [] })],
    [
      "check failed: no file",
      (root) => root.opened().write({ kind: "verify.finished", round: 1, failures: ["no file"] }),
    ],
    ["called model", (root) => root.opened().replied([]).write({ kind: "timer.fired", timer: "t" })],
    ["completed", (root) => root.opened().settled()],
    ["bailed_out: max_tokens", (root) => root.opened().settled({ status: "bailed_out", bailoutReason: "max_tokens" })],
    [
      "delegated to coder, worker × 2",
      (root, builder) =>
        root
          .opened()
          .replied([["delegate", { tasks: [] }]])
          .planned(["coder", "worker", "worker"].map((agent, item) => builder.planned(agent, { item }))),
    ],
    ["delegated to several agents", (root) => root.opened().replied([["delegate", { tasks: [] }]])],
    [
      "delegate: no agent of that name",
      (root) =>
        root
          .opened()
          .replied([["delegate", { agent: "x" }]])
          .planned([], [[0, "delegate", "no agent of that name"]]),
    ],
    ["asks to run shell npm test", (root) => requestShellApproval(root)],
    ["asks whether to start", (root) => root.opened().asked(0, null, {})],
    ["asks to run shell npm test", (root) => requestShellApproval(root, "approval")],
    ["approved by Ada", (root, builder) => root.received(builder.answered(root, requestShellApproval(root)))],
    [
      "denied by Ada: too bold",
      (root, builder) =>
        root.received(builder.answered(root, requestShellApproval(root), { approved: false, reason: "too bold" })),
    ],
    [
      "denied by Ada",
      (root, builder) => root.received(builder.answered(root, requestShellApproval(root), { approved: false })),
    ],
    ["paused by Ada", (root) => root.opened().received(commandFor(root, { kind: "run.paused" }))],
    [
      "paused by Ada",
      (root) =>
        root
          .opened()
          .received(commandFor(root, { kind: "run.paused" }))
          .write({ kind: "run.parked", reason: "pause" }),
    ],
    ["resumed by Ada", (root) => root.opened().received(commandFor(root, { kind: "run.resumed" }))],
    [
      "message from Ada: be brief",
      (root) => root.opened().received(commandFor(root, { kind: "run.steered", text: "be brief" })),
    ],
    [
      "cancel requested",
      (root) => root.opened().received(commandFor(root, { kind: "run.cancelled", reason: "enough" })),
    ],
    ["coder waits for a person", (root, builder) => waitsForPerson(root, builder, true)],
    ["waits for 2 children", (root, builder) => waitsForPerson(root, builder, false)],
    ["tester waits for a person", (root) => childWaits(root.opened().replied(delegations), 1)],
    ["summarised the conversation for its children", (root) => root.opened().write(summary)],
    ["shortened the conversation for its children", (root) => root.opened().write({ ...summary, error })],
    ["recall 3/0", (root) => root.opened().replied([["recall", { result: "3/0" }]])],
    ["removed 12 older results: 61k → 23k tokens", (root) => trimmed(root, 12)],
    ["removed 1 older result: 61k → 23k tokens", (root) => trimmed(root, 1)],
    ["summarised the conversation: 61k → 900 tokens", (root) => root.opened().write(compaction)],
    ["shortened the conversation: 61k → 900 tokens", (root) => root.opened().write({ ...compaction, error })],
    ["a [31mred word", (root) => root.opened().replied([["a", { path: "\u001b[31mred\u0007 word" }]])],
  ];
  it.each(cases)("is %j", (activity, write) => {
    expect(recordAfter(write).activity).toBe(activity);
  });

  it("stays short, with any text of a model", () => {
    const after = recordAfter((root) => root.opened().replied([["shell", { command: "x".repeat(5_000) }]]));
    expect(after.activity).toHaveLength(120);
  });

  function trimmed(root: RunBuilder, count: number): RunBuilder {
    const results = Array.from({ length: count }, (_, place) => `1/${place}`);
    const [tokensBefore, tokensAfter] = [61_400, 22_600];
    return root.opened().write({ kind: "context.trimmed", step: 2, results, tokensBefore, tokensAfter });
  }

  function settleChild(root: RunBuilder, builder: FeedBuilder): void {
    const child = builder.run({ agent: "coder", parent: root });
    root.childSettled({ call: 0 }, child.response());
  }

  function waitsForPerson(root: RunBuilder, builder: FeedBuilder, waiting: boolean): RunBuilder {
    const batch = ["tester", "coder"].map((agent, item) => builder.planned(agent, { item }));
    root
      .opened()
      .replied([["delegate", { tasks: [] }]])
      .planned(batch);
    return root.write({ kind: "child.waiting", step: 1, call: 0, item: 1, attempt: 1, waiting });
  }

  function childWaits(root: RunBuilder, call: number): void {
    root.write({ kind: "child.waiting", step: 1, call, item: 0, attempt: 1, waiting: true });
  }
});
