/** A person's answer is bound to one call and to exactly what it would do: changed arguments are another question. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { run, session } from "../machines/fixtures.test-helper.ts";
import { Approval, type ApprovalKey, ApprovalRule, ApprovalScope, approvalId, wholeRunStep } from "./approval.ts";
import { canonicalJson, hashText } from "./hash.ts";
import { childRunId, Id } from "./ids.ts";

function keyOf(args: unknown, changes: Partial<ApprovalKey> = {}): ApprovalKey {
  return { run, step: 1, call: 0, argsHash: hashText(canonicalJson(args)), ...changes };
}

const removalApproval = approvalId(keyOf({ command: "rm notes.md" }));

describe("the id of an approval", () => {
  test("never changes: journals and inboxes contain it", () => {
    expect(removalApproval).toBe("3ec826b3-8024-84d6-9065-69586cf2b3ec");
    expect(Id.safeParse(removalApproval).success).toBe(true);
  });

  test("does not depend on the order of the arguments", () => {
    expect(approvalId(keyOf({ a: 1, b: [{ c: 2, d: 3 }] }))).toBe(approvalId(keyOf({ b: [{ d: 3, c: 2 }], a: 1 })));
  });

  test.each([
    ["another command", keyOf({ command: "rm -r notes.md" })],
    ["one more space", keyOf({ command: "rm notes.md " })],
    ["one more argument", keyOf({ command: "rm notes.md", cwd: "/" })],
    ["a number for a text", keyOf({ command: 1 })],
    ["another call of the turn", keyOf({ command: "rm notes.md" }, { call: 1 })],
    ["the same call in another step", keyOf({ command: "rm notes.md" }, { step: 2 })],
    ["the whole run", keyOf({ command: "rm notes.md" }, { step: wholeRunStep })],
    ["another run", keyOf({ command: "rm notes.md" }, { run: session })],
  ])("%s has another id", (_, key) => {
    expect(approvalId(key)).not.toBe(removalApproval);
  });

  test("differs from every run id", () => {
    expect(approvalId(keyOf({}))).not.toBe(childRunId({ parentRun: run, step: 1, call: 0, attempt: 1 }));
  });

  test("is the same for equal approvals, and different for others", () => {
    const keys = fc.record({ step: fc.nat(12), call: fc.nat(12), argsHash: fc.constantFrom("0", "1", "11") });
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(approvalId({ run, ...a }) === approvalId({ run, ...b })).toBe(same);
      }),
    );
  });
});

describe("an approval", () => {
  const question = {
    id: removalApproval,
    tool: "shell",
    args: { command: "rm" },
    risk: "high",
    reason: "why",
    path: ["main"],
  };

  test.each([
    ["about a call", question],
    ["about the whole run, without a tool", { ...question, tool: null, args: null }],
    ["about any JSON arguments", { ...question, args: [1, "a", null, { b: [true] }] }],
  ])("%s is parsed unchanged", (_, input) => {
    expect(Approval.parse(input)).toEqual(input);
  });

  test.each([
    ["without arguments", { args: undefined }],
    ["with an unknown risk", { risk: "extreme" }],
    ["without an agent", { path: ["a.b"] }],
    ["with an invalid id", { id: "1" }],
  ])("%s is refused", (_, changes) => {
    expect(Approval.safeParse({ ...question, ...changes }).success).toBe(false);
  });
});

test("an answer has one of three scopes", () => {
  expect(ApprovalScope.options).toEqual(["once", "run", "rule"]);
});

describe("a stored rule", () => {
  const rule = {
    id: removalApproval,
    decision: "allow",
    tool: "shell",
    argsHash: hashText("{}"),
    args: {},
    workspace: "/w",
    agent: "coder",
    createdAt: "2026-01-01T00:00:00.000Z",
    by: "ada",
  };

  test.each([
    ["for these arguments", rule],
    ["for any", { ...rule, argsHash: null, args: null }],
    ["of any agent", { ...rule, agent: null }],
    ["that denies", { ...rule, decision: "deny" }],
  ])("%s is parsed unchanged", (_, stored) => {
    expect(ApprovalRule.parse(stored)).toEqual(stored);
  });

  test.each([
    ["without a tool: it would apply to all of them", { tool: "" }],
    ["without arguments", { argsHash: undefined }],
    ["without a folder", { workspace: undefined }],
    ["that asks", { decision: "ask" }],
  ])("%s is refused", (_, changes) => {
    expect(ApprovalRule.safeParse({ ...rule, ...changes }).success).toBe(false);
  });
});
