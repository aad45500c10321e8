import type { Approval } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import type { Scribe, Story } from "../story.test-helper.ts";
import { asksShell, draftAfter, wishFor } from "./draft.test-helper.ts";

/** Who works, who waits for a person, who stands still. */

describe("a run that waits", () => {
  const askedTwice = (root: Scribe): Approval[] => {
    root.opened().replied([
      ["shell", { command: "a" }],
      ["shell", { command: "b" }],
    ]);
    return [root.asked(0, "shell", { command: "a" }), root.asked(1, "shell", { command: "b" })];
  };
  const paused = (root: Scribe): Scribe => root.received(wishFor(root, { kind: "run.paused" }));
  const resumed = (root: Scribe): Scribe => root.received(wishFor(root, { kind: "run.resumed" }));
  const parked = (root: Scribe, reason: "drain" | "approval" | "pause"): Scribe =>
    root.write({ kind: "run.parked", reason });
  const claimed = (root: Scribe): Scribe => root.write({ kind: "run.claimed", reason: "resumed" });
  const answeredFor = (root: Scribe, story: Story, scope: "run" | "rule", approved = true): void => {
    const [first] = askedTwice(root);
    if (first) root.received(story.answered(root, first, { scope, approved }));
  };
  const askedAgain = (root: Scribe, story: Story): void => {
    asksShell(root);
    const again = root.asked(0, "shell", { command: "npm test" });
    root.received(story.answered(root, again));
  };
  const answeredFirst = (root: Scribe, story: Story): void => {
    const [first] = askedTwice(root);
    if (first) root.received(story.answered(root, first));
  };

  const cases: [what: string, exactStatus: string, (root: Scribe, story: Story) => unknown][] = [
    ["has asked a person", "waiting", (root) => asksShell(root)],
    ["has asked whether to begin", "waiting", (root) => root.opened().asked(0, null, {})],
    ["has asked and is parked", "waiting", (root) => [asksShell(root), parked(root, "approval")]],
    ["has asked and is parked by a drain", "parked", (root) => [asksShell(root), parked(root, "drain")]],
    [
      "has asked and is taken up without an answer",
      "waiting",
      (root) => [asksShell(root), claimed(parked(root, "drain"))],
    ],
    ["has its answer", "running", (root, story) => root.received(story.answered(root, asksShell(root)))],
    ["has one answer of two", "waiting", answeredFirst],
    ["has one answer that is for the rest of the run", "running", (root, story) => answeredFor(root, story, "run")],
    ["has one answer that is for a rule", "waiting", (root, story) => answeredFor(root, story, "rule")],
    ["is denied one of two", "waiting", (root, story) => answeredFor(root, story, "run", false)],
    ["went on with the call that it asked about", "running", (root) => [asksShell(root), root.finished(0)]],
    ["went on with another call", "waiting", (root) => [askedTwice(root), root.finished(0)]],
    ["is told to pause", "paused", (root) => paused(root.opened())],
    ["is paused and parked", "paused", (root) => parked(paused(root.opened()), "pause")],
    ["is paused and taken up again", "paused", (root) => claimed(parked(paused(root.opened()), "drain"))],
    ["is resumed", "running", (root) => resumed(paused(root.opened()))],
    ["is paused while it asks", "paused", (root) => [asksShell(root), paused(root)]],
    ["is paused while it asks, and parked", "paused", (root) => [asksShell(root), parked(paused(root), "approval")]],
    ["has asked the same again, and has its answer", "running", askedAgain],
    ["is resumed while it asks", "waiting", (root) => [asksShell(root), resumed(paused(root))]],
    [
      "has its answer while it is paused",
      "paused",
      (root, story) => {
        const question = asksShell(root);
        paused(root).received(story.answered(root, question));
      },
    ],
    ["is parked for its children's questions", "waiting", (root) => parked(root.opened(), "approval")],
    ["has settled", "cancelled", (root) => [asksShell(root), root.settled({ status: "cancelled" })]],
  ];
  it.each(cases)("that %s is %s, in the machine's own word", (_what, exactStatus, tell) => {
    const draft = draftAfter((root, story) => void tell(root, story));
    expect(draft).toMatchObject({ exactStatus, metadata: { status: exactStatus } });
    expect(draft.status).toBe(exactStatus === "cancelled" ? "cancelled" : "running");
  });

  it("has no question left when it has settled", () => {
    expect(draftAfter((root) => [asksShell(root), root.settled()])).toMatchObject({ asks: [], paused: false });
  });

  it("is running for the record, and parked in the machine's own word, until it is claimed again", () => {
    const parked = draftAfter((root) => root.opened().write({ kind: "run.parked", reason: "drain" }));
    expect(parked).toMatchObject({ status: "running", exactStatus: "parked", metadata: { status: "parked" } });
    const resumed = draftAfter((root) =>
      root.opened().write({ kind: "run.parked", reason: "drain" }).write({ kind: "run.claimed", reason: "resumed" }),
    );
    expect(resumed).toMatchObject({ status: "running", exactStatus: "running", metadata: { status: "running" } });
  });
});
