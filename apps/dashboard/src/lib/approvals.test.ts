import type { ApprovalRow } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { announceWaiting, outcomeWords, waitingOf, whatBecame } from "./approvals.ts";
import { approvalRow } from "./fixtures.ts";

const a = approvalRow({ id: "a" });
const b = approvalRow({ id: "b", session: "s2", agent: "tester", tool: null });

function settled(row: ApprovalRow, part: Partial<ApprovalRow>): ApprovalRow {
  return { ...row, ...part };
}

describe("what waits", () => {
  it.each([
    ["nothing, while nothing is known", null, undefined, []],
    ["of all sessions", [a, b], undefined, ["a", "b"]],
    ["of one session", [a, b], "s2", ["b"]],
    [
      "not what was answered or withdrawn",
      [settled(a, { state: "denied" }), settled(b, { state: "withdrawn" })],
      undefined,
      [],
    ],
  ] as const)("%s", (_sentence, rows, session, expected) => {
    expect(waitingOf(rows, session).map(({ id }) => id)).toEqual(expected);
  });
});

describe("how an approval stands", () => {
  it.each([
    [{ state: "waiting", scope: null, by: null }, "waiting"],
    [{ state: "approved", scope: "once", by: "ada" }, "approved by ada"],
    [{ state: "approved", scope: "run", by: "cli" }, "approved for this run by cli"],
    [{ state: "denied", scope: "rule", by: "ada" }, "denied always by ada"],
    [{ state: "denied", scope: null, by: null }, "denied"],
    [{ state: "withdrawn", scope: null, by: null }, "withdrawn: its run has ended"],
  ] as const)("%j: %s", (row, expected) => {
    expect(outcomeWords(row)).toBe(expected);
  });
});

describe("what became of what waited", () => {
  it.each([
    ["nothing, while all wait", [a, b], [a, b], null],
    ["nothing, where rows are not there", [a], [], null],
    ["nothing, while they are loaded anew", [a], null, null],
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
    expect(whatBecame(before, now)).toBe(expected);
  });
});

describe("what is said aloud of what begins to wait", () => {
  it.each([
    ["nothing new", [a], [a], null],
    ["nothing, when one was answered", [a, b], [a], null],
    ["one by name", [a], [a, b], "tester waits for approval: its whole run"],
    ["several as a count", [], [a, b], "2 approvals wait for an answer"],
  ] as const)("%s", (_sentence, before, after, expected) => {
    expect(announceWaiting(before, after)).toBe(expected);
  });
});
