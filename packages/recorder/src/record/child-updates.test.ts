import type { EntryBody, RunResponse } from "@troupe/core";
import type { PlannedChild } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { createFeedBuilder, type FeedBuilder, noMetrics, type RunBuilder } from "../feed-builder.test-helper.ts";
import { childUpdatesOf } from "./child-updates.ts";
import { project } from "./projection.ts";
import type { RunRecord } from "./run-columns.ts";
import { entriesOf } from "./run-record.test-helper.ts";

/** The effect of a parent's entries on the records of its children. */

interface ParentAndChild {
  builder: FeedBuilder;
  root: RunBuilder;
  child: RunBuilder;
  planned: PlannedChild;
}

/** A root that has planned a child. */
function aParentAndChild(): ParentAndChild {
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "main" });
  const planned = builder.planned("coder");
  root
    .opened()
    .replied([["delegate", { agent: "coder" }]])
    .planned([planned]);
  return { builder, root, planned, child: builder.run({ agent: "coder", parent: root, planned }) };
}

/** The records of all runs after the feed. */
function recordsAfter(builder: FeedBuilder): Map<string, RunRecord> {
  const records = new Map<string, RunRecord>();
  for (const entry of entriesOf(builder)) {
    const after = project(records.get(entry.run) ?? null, entry);
    if (!after) continue;
    records.set(entry.run, after);
    for (const { run, apply } of childUpdatesOf(after, entry)) {
      const other = apply(records.get(run) ?? null);
      if (other) records.set(run, other);
    }
  }
  return records;
}

function childOf({ builder, planned }: ParentAndChild): RunRecord | undefined {
  return recordsAfter(builder).get(planned.run);
}

const error = { type: "budget", message: "nothing left", tool: null, recoverable: false, retryAfterMs: null } as const;

/** The response that a parent writes for a child that never started. */
function notStartedResponse({ child }: ParentAndChild): RunResponse {
  return child.response({ status: "cancelled", success: false, error, metrics: noMetrics });
}

describe("a planned child", () => {
  it("is visible in the queue before it has a journal of its own", () => {
    const family = aParentAndChild();
    expect(childOf(family)).toMatchObject({
      session: family.builder.session,
      parentRun: family.root.request.run,
      agent: "coder",
      task: "the task of coder",
      depth: 1,
      attempt: 1,
      maxAttempts: 3,
      contextMode: "summary",
      status: "pending",
      exactStatus: "queued",
      activity: "queued",
      costUsd: 0,
      headIndex: -1,
      metadata: { run_id: family.planned.run, status: "queued", attempt: 1 },
    });
  });

  it("counts from its own start once it has one, with the attempts that its parent allows", () => {
    const family = aParentAndChild();
    const queuedAt = childOf(family)?.startedAt ?? "";
    family.child.opened();
    const opened = childOf(family);
    expect(opened).toMatchObject({ status: "running", exactStatus: "running", maxAttempts: 3, activity: "started" });
    expect((opened?.startedAt ?? "") > queuedAt).toBe(true);
  });

  it("that is already known stays unchanged", () => {
    const family = aParentAndChild();
    family.child.opened();
    const before = childOf(family);
    family.root.planned([{ ...family.planned, task: "another" }]);
    expect(childOf(family)).toEqual(before);
  });
});

describe("a child that never started", () => {
  it("ends as its parent reports", () => {
    const family = aParentAndChild();
    family.root.childSettled({ call: 0 }, notStartedResponse(family));
    const child = childOf(family);
    expect(child).toMatchObject({
      status: "cancelled",
      exactStatus: "cancelled",
      error: "nothing left",
      activity: "cancelled: nothing left",
      durationMs: 0,
      metadata: { status: "cancelled", error_type: "budget" },
    });
    expect(child?.completedAt).toBe(child?.lastEventAt);
  });

  it("ends once, with any later reports", () => {
    const family = aParentAndChild();
    family.root.childSettled({ call: 0 }, notStartedResponse(family));
    const before = childOf(family);
    family.root.childSettled({ call: 0 }, family.child.response({ metrics: noMetrics }));
    expect(childOf(family)).toEqual(before);
  });

  it("is not restored by a second plan", () => {
    const family = aParentAndChild();
    family.root.childSettled({ call: 0 }, notStartedResponse(family));
    family.root.planned([family.planned]);
    expect(childOf(family)?.status).toBe("cancelled");
  });

  it("ends with its parent if that crashed before its report", () => {
    const family = aParentAndChild();
    family.root.settled({ status: "failed", success: false });
    expect(childOf(family)).toMatchObject({
      status: "cancelled",
      exactStatus: "cancelled",
      error: "the parent run ended before this run started",
      durationMs: 0,
      metadata: { status: "cancelled" },
    });
  });

  it("is replaced by its own entries, if there are any after all", () => {
    const family = aParentAndChild();
    family.root.childSettled({ call: 0 }, notStartedResponse(family));
    family.child.opened();
    expect(childOf(family)).toMatchObject({ status: "running", completedAt: null, error: null, summary: null });
    family.child.settled();
    expect(childOf(family)).toMatchObject({ status: "completed", summary: "coder is done", error: null });
  });
});

describe("an update from a parent", () => {
  const settledAs = (response: RunResponse): EntryBody => {
    return { kind: "child.settled", step: 1, call: 0, item: 0, attempt: 1, response };
  };

  it.each([
    { what: "works", write: ({ child }: ParentAndChild) => child.opened() },
    { what: "has settled", write: ({ child }: ParentAndChild) => child.opened().settled() },
  ])("changes nothing about a child that $what by its own journal", ({ write }) => {
    const family = aParentAndChild();
    write(family);
    const before = childOf(family);
    family.root.childSettled({ call: 0 }, notStartedResponse(family));
    family.root.settled();
    expect(childOf(family)).toEqual(before);
  });

  it("changes nothing about another run's child, or about a run of another session", () => {
    const family = aParentAndChild();
    const stranger = family.builder.run({ agent: "stranger" });
    stranger.opened().write(settledAs(notStartedResponse(family)));
    expect(childOf(family)?.status).toBe("pending");

    const queued = childOf(family);
    const [entry] = entriesOf(family.builder).filter(({ kind }) => kind === "child.settled");
    const parent = recordsAfter(family.builder).get(family.root.request.run);
    if (!queued || !entry || !parent) throw new Error("the family is not whole");
    const [update] = childUpdatesOf({ ...parent, session: "another" }, entry);
    expect(update?.apply(queued)).toBeNull();
    expect(childUpdatesOf(parent, entry)[0]?.apply(queued)).toMatchObject({ status: "cancelled" });
  });

  it("makes no run of a child that is not planned", () => {
    const { builder, root } = aParentAndChild();
    const unknown = builder.run({ agent: "coder", parent: root });
    root.childSettled({ call: 0 }, unknown.response({ metrics: noMetrics }));
    expect(recordsAfter(builder).has(unknown.request.run)).toBe(false);
  });
});
