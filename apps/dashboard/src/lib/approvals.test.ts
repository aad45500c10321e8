import type { ApprovalRow } from "@troupe/core";
import { describe, expect, it } from "vitest";
import {
  announceSettled,
  announceWaiting,
  newestApprovals,
  outcomeText,
  settledMax,
  settledOf,
  waitingOf,
} from "./approvals.ts";
import { approvalRow } from "./fixtures.test-helper.ts";

const a = approvalRow({ id: "a" });
const b = approvalRow({ id: "b", session: "s2", agent: "tester", tool: null });

function settled(row: ApprovalRow, part: Partial<ApprovalRow>): ApprovalRow {
  return { ...row, ...part };
}

describe("the waiting approvals are", () => {
  it.each([
    ["none before the first load", null, undefined, []],
    ["of all sessions", [a, b], undefined, ["a", "b"]],
    ["of one session", [a, b], "s2", ["b"]],
    ["not answered or withdrawn", [settled(a, { state: "denied" }), settled(b, { state: "withdrawn" })], undefined, []],
  ] as const)("%s", (_sentence, rows, session, expected) => {
    expect(waitingOf(rows, session).map(({ id }) => id)).toEqual(expected);
  });
});

describe("the order", () => {
  const idsOf = (rows: readonly ApprovalRow[]): string[] => rows.map(({ id }) => id);

  it("is the order of the requests, also with equal times", () => {
    const rows = [approvalRow({ id: "z" }), approvalRow({ id: "y", requestedAt: "2025-12-31T23:59:59.000Z" }), a];
    expect(idsOf(newestApprovals(rows).retained)).toEqual(["y", "z", "a"]);
  });

  it("of settled ones has the last settled first", () => {
    const at = (second: number): Partial<ApprovalRow> => ({
      state: "approved",
      answeredAt: `2026-01-01T00:00:0${second}.000Z`,
    });
    const rows = [settled(a, at(9)), b, approvalRow({ id: "c", ...at(5) }), approvalRow({ id: "d", ...at(5) })];
    expect(idsOf(settledOf(rows))).toEqual(["a", "d", "c"]);
    expect(settledOf(null)).toEqual([]);
  });
});

describe("the store keeps", () => {
  it("every waiting approval and the newest others", () => {
    const others = Array.from({ length: settledMax + 1 }, (_, i) =>
      approvalRow({ id: `${i}`, state: "denied", requestedAt: new Date(i).toISOString() }),
    );
    const { retained, evicted } = newestApprovals([a, ...others]);
    expect(evicted.map(({ id }) => id)).toEqual(["0"]);
    expect(retained).toHaveLength(settledMax + 1);
    expect(retained).toContain(a);
  });
});

describe("the outcome of an approval", () => {
  it.each([
    [{ state: "waiting", scope: null, by: null }, "waiting"],
    [{ state: "approved", scope: "once", by: "ada" }, "approved by ada"],
    [{ state: "approved", scope: "run", by: "cli" }, "approved for this run by cli"],
    [{ state: "denied", scope: "rule", by: "ada" }, "denied always by ada"],
    [{ state: "denied", scope: null, by: null }, "denied"],
    [{ state: "withdrawn", scope: null, by: null }, "withdrawn: its run has ended"],
  ] as const)("%j: %s", (row, expected) => {
    expect(outcomeText(row)).toBe(expected);
  });
});

describe("the announcement of settled approvals", () => {
  it.each([
    ["nothing, while all wait", [a, b], [a, b], null],
    ["nothing, while rows are missing", [a], [], null],
    ["nothing, during a reload", [a], null, null],
    [
      "one by name",
      [a, b],
      [settled(a, { state: "approved", scope: "once", by: "ada" }), b],
      "coder, shell: approved by ada",
    ],
    ["a whole run", [b], [settled(b, { state: "denied", by: "cli" })], "tester, its whole run: denied by cli"],
    [
      "several as a count",
      [a, b],
      [settled(a, { state: "denied" }), settled(b, { state: "withdrawn" })],
      "2 approvals were settled",
    ],
  ] as const)("%s", (_sentence, before, now, expected) => {
    expect(announceSettled(before, now)).toBe(expected);
  });
});

describe("the announcement of new approvals", () => {
  it.each([
    ["nothing new", [a], [a], null],
    ["nothing, when one was answered", [a, b], [a], null],
    ["one by name", [a], [a, b], "tester is waiting for approval: its whole run"],
    ["several as a count", [], [a, b], "2 approvals are waiting"],
  ] as const)("%s", (_sentence, before, after, expected) => {
    expect(announceWaiting(before, after)).toBe(expected);
  });
});
