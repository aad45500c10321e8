/** A person's answer: the first one holds, it reaches the waiting run, and it never allows more than was asked. */
import { ApprovalAnswer, type ApprovalRow, type EntryBody } from "@troupe/core";
import { hashArguments } from "@troupe/core/internal";
import { createCountingIds } from "@troupe/core/memory";
import { beforeEach, describe, expect, it } from "vitest";
import { type Control, createControl } from "./control.ts";
import {
  approvalArgs,
  approvalRequested,
  child,
  createIdleDeps,
  createListedRules,
  createRows,
  type IdleDeps,
  openRun,
  parked,
  requestOf,
  root,
  session,
  settled,
} from "./service.fixture.ts";

const question = approvalRequested(child);
const { id } = question.approval;
const request = requestOf({ run: child, agent: "coder", ancestors: [root], chain: ["main"], depth: 1 });
const waiting: ApprovalRow = {
  ...question.approval,
  session,
  run: child,
  agent: "coder",
  team: null,
  state: "waiting",
  requestedAt: "1970-01-01T00:00:00.500Z",
  answeredAt: null,
  scope: null,
  by: null,
  answerReason: null,
};
const yes = ApprovalAnswer.parse({ approved: true, by: "Ada" });
const no = ApprovalAnswer.parse({ approved: false, reason: "not there", by: "Ben" });

let deps: IdleDeps;
let record: ReturnType<typeof createRows>;
let rules: ReturnType<typeof createListedRules>;
let control: Control;
beforeEach(async () => {
  deps = await createIdleDeps();
  record = createRows();
  rules = createListedRules();
  control = createControl({ deps, record, rules, ids: createCountingIds() });
});

async function ask(rest: EntryBody[] = [question, parked("approval")], inRecord = true): Promise<void> {
  await openRun(deps, requestOf(), [parked("approval")]);
  await openRun(deps, request, rest);
  if (inRecord) record.approvals.set(id, waiting);
}

describe("an answer", () => {
  it.each([
    ["a yes", yes, { approved: true, scope: "once", reason: null, by: "Ada" }, "approved"],
    ["a no", no, { approved: false, scope: "once", reason: "not there", by: "Ben" }, "denied"],
    ["for the run", { ...yes, scope: "run" as const }, { approved: true, scope: "run" }, "approved"],
  ])("is stored, announced, and wakes only the run that asked: %s", async (_, given, stored, state) => {
    await ask();
    const { approved, scope, by, reason: answerReason } = given;
    expect(await control.answer(id, given)).toEqual({
      approval: { ...waiting, state, answeredAt: "1970-01-01T00:00:01.000Z", scope, by, answerReason },
      outcome: "answered",
      rule: null,
    });
    expect(approved).toBe(state === "approved");
    expect(await deps.commands()).toMatchObject([{ kind: "approval.answered", run: child, approval: id, ...stored }]);
    expect(deps.announced).toEqual([session]);
    expect(await deps.offered()).toEqual([child]);
    expect(rules.stored).toEqual([]);
  });

  it("reaches a question that the record does not have yet", async () => {
    await ask([question], false);
    const { approval, outcome } = await control.answer(id, yes);
    expect([approval, outcome]).toEqual([
      { ...waiting, state: "approved", answeredAt: "1970-01-01T00:00:01.000Z", scope: "once", by: "Ada" },
      "answered",
    ]);
    expect(await deps.commands()).toHaveLength(1);
  });

  it("to an unknown question is refused", async () => {
    await ask([question], false);
    await expect(control.answer(root, yes)).rejects.toMatchObject({
      code: "UNKNOWN_APPROVAL",
      message: `there is no approval "${root}"`,
      fix: "troupe approvals ls",
    });
  });
});

describe("the first answer holds:", () => {
  it("a later one changes nothing and gets the current state", async () => {
    await ask();
    await control.answer(id, no);
    const { approval, outcome } = await control.answer(id, { ...yes, scope: "rule" });
    expect(outcome).toBe("settled");
    expect(approval).toMatchObject({ state: "denied", by: "Ben", answerReason: "not there" });
    expect(await deps.commands()).toHaveLength(1);
    expect(rules.stored).toEqual([]);
  });

  it("of two concurrent answers, one", async () => {
    await ask();
    const outcomes = await Promise.all([control.answer(id, yes), control.answer(id, no), control.answer(id, yes)]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["answered", "settled", "settled"]);
    expect(outcomes.map(({ approval }) => approval.state)).toEqual(["approved", "approved", "approved"]);
    expect(await deps.commands()).toHaveLength(1);
  });

  it("and wakes the run again if its sender crashed before that", async () => {
    await ask();
    await control.answer(id, yes);
    await deps.offered();
    await control.answer(id, no);
    expect(await deps.offered()).toEqual([child]);
  });

  it("one in the record is not looked up in the inbox", async () => {
    await ask();
    record.approvals.set(id, { ...waiting, state: "approved", by: "Cleo" });
    expect(await control.answer(id, no)).toMatchObject({ outcome: "settled", approval: { by: "Cleo" } });
    expect(await deps.commands()).toEqual([]);
  });

  it("and a settled run takes none", async () => {
    await ask([question, settled(child, "cancelled")]);
    expect(await control.answer(id, { ...yes, scope: "rule" })).toEqual({
      approval: { ...waiting, state: "withdrawn" },
      outcome: "settled",
      rule: null,
    });
    expect(await deps.commands()).toEqual([]);
    expect(rules.stored).toEqual([]);
  });
});

describe("an answer with the scope rule", () => {
  it.each([
    [
      "an allowance, for the agent that asked, with these arguments",
      yes,
      { decision: "allow", agent: "coder", by: "Ada" },
    ],
    ["a denial, for all agents", no, { decision: "deny", agent: null, by: "Ben" }],
  ])("is stored as a rule first, then as an answer: %s", async (_, given, stored) => {
    await ask();
    const { rule, outcome } = await control.answer(id, { ...given, scope: "rule" });
    expect(rule).toEqual({
      id: expect.any(String),
      tool: "shell",
      argsHash: hashArguments(approvalArgs),
      args: approvalArgs,
      workspace: "/project",
      createdAt: "1970-01-01T00:00:01.000Z",
      ...stored,
    });
    expect(rules.stored).toEqual([rule]);
    expect(await control.rules()).toEqual([rule]);
    expect(outcome).toBe("answered");
    expect(await deps.commands()).toMatchObject([{ approved: given.approved, scope: "rule" }]);
  });

  it("can apply to any arguments", async () => {
    await ask();
    const { rule } = await control.answer(id, { ...yes, scope: "rule", anyArguments: true });
    expect(rule).toMatchObject({ argsHash: null, args: null, tool: "shell", agent: "coder" });
  });

  it("can apply to commands by their first words", async () => {
    await ask();
    const commands = "git status:*";
    await expect(control.answer(id, { ...yes, scope: "rule", commands: "$(rm x)" })).rejects.toMatchObject({
      code: "USAGE",
      fix: expect.stringContaining("--commands 'git status:*'"),
    });
    expect(rules.stored).toEqual([]);
    const { rule } = await control.answer(id, { ...yes, scope: "rule", commands });
    // Earlier versions read no tool in this name, so the rule allows nothing there.
    expect(rule).toMatchObject({ argsHash: null, args: null, tool: "shell(git status:*)", agent: "coder" });
  });

  it("does not count if its rule cannot be stored", async () => {
    await ask();
    rules.add = () => Promise.reject(new Error("disk full"));
    await expect(control.answer(id, { ...yes, scope: "rule" })).rejects.toThrow("disk full");
    expect(await deps.commands()).toEqual([]);
  });

  it("is refused for an approval of a whole run", async () => {
    const whole = approvalRequested(child, { tool: null, args: { task: "do it" } });
    await ask([whole], false);
    await expect(control.answer(id, { ...yes, scope: "rule" })).rejects.toMatchObject({
      code: "USAGE",
      message: "a rule is for a tool, but this approval is for a whole run",
      fix: "answer with the scope once",
    });
    expect(await deps.commands()).toEqual([]);
    expect(await control.answer(id, yes)).toMatchObject({ outcome: "answered" });
  });

  it("is refused by a process that stores no rules", async () => {
    await ask();
    const without = createControl({ deps, record, ids: createCountingIds() });
    await expect(without.answer(id, { ...yes, scope: "rule" })).rejects.toMatchObject({ code: "USAGE" });
    expect(await deps.commands()).toEqual([]);
    expect(await without.rules()).toEqual([]);
    await expect(without.removeRule(id)).rejects.toMatchObject({ code: "UNKNOWN_RULE" });
  });
});

describe("a rule", () => {
  it("can be removed, once", async () => {
    await ask();
    const { rule } = await control.answer(id, { ...yes, scope: "rule" });
    expect(await control.removeRule(rule?.id ?? "")).toEqual(rule);
    expect(await control.rules()).toEqual([]);
    await expect(control.removeRule(rule?.id ?? "")).rejects.toMatchObject({
      code: "UNKNOWN_RULE",
      fix: "troupe rules ls",
    });
  });
});
