import type { Approval } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import type { FeedBuilder, RunBuilder } from "../feed-builder.test-helper.ts";
import { commandFor, recordAfter, requestShellApproval } from "./run-record.test-helper.ts";

/** The exact status of a run: running, waiting for a user, paused, parked. */

describe("the status of a waiting run", () => {
  const askedTwice = (root: RunBuilder): Approval[] => {
    root.opened().replied([
      ["shell", { command: "a" }],
      ["shell", { command: "b" }],
    ]);
    return [root.asked(0, "shell", { command: "a" }), root.asked(1, "shell", { command: "b" })];
  };
  const paused = (root: RunBuilder): RunBuilder => root.received(commandFor(root, { kind: "run.paused" }));
  const resumed = (root: RunBuilder): RunBuilder => root.received(commandFor(root, { kind: "run.resumed" }));
  const parked = (root: RunBuilder, reason: "drain" | "approval" | "pause"): RunBuilder =>
    root.write({ kind: "run.parked", reason });
  const claimed = (root: RunBuilder): RunBuilder => root.write({ kind: "run.claimed", reason: "resumed" });
  const answeredFor = (root: RunBuilder, builder: FeedBuilder, scope: "run" | "rule", approved = true): void => {
    const [first] = askedTwice(root);
    if (first) root.received(builder.answered(root, first, { scope, approved }));
  };
  const askedAgain = (root: RunBuilder, builder: FeedBuilder): void => {
    requestShellApproval(root);
    const again = root.asked(0, "shell", { command: "npm test" });
    root.received(builder.answered(root, again));
  };
  const answeredFirst = (root: RunBuilder, builder: FeedBuilder): void => {
    const [first] = askedTwice(root);
    if (first) root.received(builder.answered(root, first));
  };

  const cases: [what: string, exactStatus: string, (root: RunBuilder, builder: FeedBuilder) => unknown][] = [
    ["has requested an approval", "waiting", (root) => requestShellApproval(root)],
    ["has requested an approval of its start", "waiting", (root) => root.opened().asked(0, null, {})],
    [
      "has requested an approval and is parked",
      "waiting",
      (root) => [requestShellApproval(root), parked(root, "approval")],
    ],
    [
      "has requested an approval and is parked by a drain",
      "parked",
      (root) => [requestShellApproval(root), parked(root, "drain")],
    ],
    [
      "has requested an approval and is resumed without an answer",
      "waiting",
      (root) => [requestShellApproval(root), claimed(parked(root, "drain"))],
    ],
    ["has its answer", "running", (root, builder) => root.received(builder.answered(root, requestShellApproval(root)))],
    ["has one answer of two", "waiting", answeredFirst],
    ["has one answer for the rest of the run", "running", (root, builder) => answeredFor(root, builder, "run")],
    ["has one answer with a rule", "waiting", (root, builder) => answeredFor(root, builder, "rule")],
    ["has one denial and one open question", "waiting", (root, builder) => answeredFor(root, builder, "run", false)],
    ["continued with the call of its question", "running", (root) => [requestShellApproval(root), root.finished(0)]],
    ["continued with another call", "waiting", (root) => [askedTwice(root), root.finished(0)]],
    ["is told to pause", "paused", (root) => paused(root.opened())],
    ["is paused and parked", "paused", (root) => parked(paused(root.opened()), "pause")],
    ["is paused and resumed by a host", "paused", (root) => claimed(parked(paused(root.opened()), "drain"))],
    ["is resumed", "running", (root) => resumed(paused(root.opened()))],
    ["is paused during a question", "paused", (root) => [requestShellApproval(root), paused(root)]],
    [
      "is paused during a question, and parked",
      "paused",
      (root) => [requestShellApproval(root), parked(paused(root), "approval")],
    ],
    ["has repeated the question, and has its answer", "running", askedAgain],
    ["is resumed during a question", "waiting", (root) => [requestShellApproval(root), resumed(paused(root))]],
    [
      "has its answer during a pause",
      "paused",
      (root, builder) => {
        const question = requestShellApproval(root);
        paused(root).received(builder.answered(root, question));
      },
    ],
    ["is parked for questions of its children", "waiting", (root) => parked(root.opened(), "approval")],
    ["has settled", "cancelled", (root) => [requestShellApproval(root), root.settled({ status: "cancelled" })]],
  ];
  it.each(cases)("that %s is %s, in the word of the machine", (_what, exactStatus, write) => {
    const after = recordAfter((root, builder) => void write(root, builder));
    expect(after).toMatchObject({ exactStatus, metadata: { status: exactStatus } });
    expect(after.status).toBe(exactStatus === "cancelled" ? "cancelled" : "running");
  });

  it("has no approval left after it has settled", () => {
    expect(recordAfter((root) => [requestShellApproval(root), root.settled()])).toMatchObject({
      pendingApprovals: [],
      paused: false,
    });
  });

  it("is running in the record, and parked in the word of the machine, until its next claim", () => {
    const parked = recordAfter((root) => root.opened().write({ kind: "run.parked", reason: "drain" }));
    expect(parked).toMatchObject({ status: "running", exactStatus: "parked", metadata: { status: "parked" } });
    const resumed = recordAfter((root) =>
      root.opened().write({ kind: "run.parked", reason: "drain" }).write({ kind: "run.claimed", reason: "resumed" }),
    );
    expect(resumed).toMatchObject({ status: "running", exactStatus: "running", metadata: { status: "running" } });
  });
});
