/** A call that a person has to allow waits, however long it takes; silence is never consent. */
import { describe, expect, test } from "vitest";
import {
  answered,
  approvalRequested,
  aToolCall,
  claimed,
  commanded,
  delegateTo,
  reads,
  reply,
  type SpecChanges,
  timerFired,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver, openedAt } from "../machine-driver.test-helper.ts";

const shell = (command: string) => aToolCall("shell", { command });
const question = (call: number) => approvalRequested(1, call);
const idOf = (call: number): string => question(call).approval.id;
const parked = { kind: "run.parked", reason: "approval" } as const;

/** Two shell calls that a person has to allow, and a read that needs no approval. */
function waiting(changes: SpecChanges = {}): MachineDriver {
  const d = drive(changes);
  d.feed(reply(1, "", [shell("a"), shell("b"), ...reads(1)]), openedAt + 1_000);
  d.feed(question(0), openedAt + 2_000);
  d.feed(question(1), openedAt + 2_000);
  d.look();
  return d;
}

function results(d: MachineDriver): [string, boolean][] {
  return d
    .effect("callModel")
    .messages.flatMap((message) =>
      message.role === "tool" ? [[message.text, message.isError] as [string, boolean]] : [],
    );
}

function approvedOf(d: MachineDriver, call: number): boolean | undefined {
  const tool = d.pending().find((effect) => effect.kind === "callTool" && effect.call === call);
  return tool?.kind === "callTool" ? tool.approved : undefined;
}

describe("a call that needs an approval", () => {
  test("waits while the other calls of its turn continue", () => {
    const d = waiting();
    expect(d.pendingKeys()).toEqual(["tool/1/2"]);
    expect(d.on(toolFinished(1, 2, "x"))).toEqual({ state: "execute.act.working", started: [], stopped: [] });
    expect(d.pending()).toEqual([]);
  });

  test("frees its slot for a queued call", () => {
    const d = drive({ limits: { maxParallelTools: 1 } });
    d.feed(reply(1, "", [shell("a"), shell("b")]));
    d.look();
    expect(d.on(question(0)).started).toEqual(["tool/1/1"]);
  });

  test("runs after an allowance, which marks the call as approved", () => {
    const d = waiting();
    expect(d.on(answered(idOf(1), true)).started).toEqual(["tool/1/1"]);
    expect([approvedOf(d, 1), approvedOf(d, 2)]).toEqual([true, false]);
    d.feed(toolFinished(1, 1, "done", { tool: "shell" }));
    d.feed(answered(idOf(0), true));
    d.feed(toolFinished(1, 0, "done as well", { tool: "shell" }));
    d.feed(toolFinished(1, 2, "x"));
    expect(results(d).map(([text]) => text)).toEqual(["done as well", "done", "x"]);
  });

  test("runs after the resume if it was allowed during a pause", () => {
    const d = waiting();
    d.feed(commanded({ kind: "run.paused" }));
    expect(d.on(answered(idOf(0), true)).started).toEqual([]);
    expect(d.on(commanded({ kind: "run.resumed" })).started).toEqual(["tool/1/0"]);
  });

  test.each([
    [null, "denied by ada"],
    ["not on a Friday", "denied by ada: not on a Friday"],
  ])("becomes a result for the model if it is denied (%j)", (reason, message) => {
    const d = waiting();
    d.feed(answered(idOf(0), false, { reason }));
    d.feed(answered(idOf(1), false, { reason }));
    d.feed(toolFinished(1, 2, "x"));
    expect(results(d)[0]).toEqual([JSON.stringify({ error: { type: "permission", message } }), true]);
    expect(d.context().usage.toolsUsed).toEqual(["read"]);
  });
});

describe("the scope of an allowance", () => {
  test("once: covers this call and no other", () => {
    const d = waiting();
    expect(d.on(answered(idOf(0), true, { scope: "once" })).started).toEqual(["tool/1/0"]);
    expect(d.context().allowedTools).toEqual([]);
  });

  test("rule: covers this call; the machine of the call stores the rule", () => {
    const d = waiting();
    expect(d.on(answered(idOf(0), true, { scope: "rule" })).started).toEqual(["tool/1/0"]);
    expect(d.context().allowedTools).toEqual([]);
  });

  test("run: covers this tool for the rest of the run, with its waiting calls", () => {
    const d = waiting();
    expect(d.on(answered(idOf(0), true, { scope: "run" })).started).toEqual(["timer/deadline", "tool/1/0", "tool/1/1"]);
    for (const call of [0, 1, 2]) d.feed(toolFinished(1, call, "x"));
    d.feed(reply(2, "", [shell("c"), aToolCall("write", { path: "a" })]));
    expect([approvedOf(d, 0), approvedOf(d, 1)]).toEqual([true, false]);
  });

  test("run: does not cover the waiting calls of another tool", () => {
    const d = drive();
    d.feed(reply(1, "", [shell("a"), aToolCall("write")]));
    d.feed(question(0));
    d.feed(approvalRequested(1, 1, "write"));
    d.look();
    expect(d.on(answered(idOf(0), true, { scope: "run" })).started).toContain("tool/1/0");
    expect(d.context().calls[1]).toMatchObject({ phase: "waiting" });
  });

  test("run: covers the commands of its request, and no other call of the tool", () => {
    const d = drive();
    d.feed(reply(1, "", [shell("npm test"), shell("npm test -- b"), shell("npm publish")]));
    d.feed(approvalRequested(1, 0, "shell", ["npm test"]));
    d.feed(approvalRequested(1, 1, "shell", ["npm test"]));
    d.feed(approvalRequested(1, 2, "shell", ["npm publish"]));
    d.look();
    expect(d.on(answered(idOf(0), true, { scope: "run" })).started).toEqual(["tool/1/0", "tool/1/1"]);
    expect(d.context().calls[2]).toMatchObject({ phase: "waiting" });
    d.feed(answered(idOf(2), false));
    for (const call of [0, 1]) d.feed(toolFinished(1, call, "x", { tool: "shell" }));
    d.feed(reply(2, "", [shell("curl evil.example")]));
    expect(d.effect("callTool")).toMatchObject({
      approved: false,
      allowances: [{ tool: "shell", risk: "high", covers: ["npm test"] }],
    });
  });

  test("run: covers nothing more if its request says so", () => {
    const d = drive();
    d.feed(reply(1, "", [shell("a"), shell("a")]));
    d.feed(approvalRequested(1, 0, "shell", []));
    d.feed(approvalRequested(1, 1, "shell", []));
    d.look();
    expect(d.on(answered(idOf(0), true, { scope: "run" })).started).toEqual(["tool/1/0"]);
  });

  test("of a denial is one call", () => {
    const d = waiting();
    d.feed(answered(idOf(0), false, { scope: "run" }));
    expect(d.context().calls.map(({ phase }) => phase)).toEqual(["settled", "waiting", "running"]);
  });
});

describe("is ignored:", () => {
  const otherQuestion = "00000000-0000-8000-8000-00000000cccc";
  test.each([
    ["an allowance of another question", answered(otherQuestion, true)],
    ["a denial of another question", answered(otherQuestion, false)],
    ["the question again", question(0)],
    ["a question about a call that has settled", question(2)],
    ["a question about a missing call", question(7)],
    ["a question of another step", approvalRequested(2, 0)],
    ["an outcome of the waiting call", toolFinished(1, 0, "ghost")],
    ["the deadline", timerFired("deadline")],
  ])("%s", (_, fact) => {
    const d = waiting();
    d.feed(toolFinished(1, 2, "x"));
    const before = d.context();
    expect(d.on(fact)).toEqual({ state: "execute.act.working", started: [], stopped: [] });
    expect({ ...d.context(), lastAt: 0 }).toEqual({ ...before, lastAt: 0 });
  });

  test.each([
    ["an allowance after a denial", false, true],
    ["a denial after an allowance", true, false],
  ])("%s", (_, first, second) => {
    const d = waiting();
    d.feed(answered(idOf(0), first));
    const { calls } = d.context();
    expect(d.on(answered(idOf(0), second))).toMatchObject({ started: [], stopped: [] });
    expect(d.context().calls).toEqual(calls);
  });

  test("an answer after its question is closed", () => {
    const d = drive();
    d.feed(reply(1, "", [shell("a")]));
    d.feed(toolFinished(1, 0, "x"));
    expect(d.on(answered(idOf(0), true))).toEqual({ state: "execute.think", started: [], stopped: [] });
  });
});

describe("the clock", () => {
  test("stops until the last question is answered", () => {
    const d = waiting();
    d.feed(answered(idOf(0), true), openedAt + 1_000_000);
    expect(d.pendingKeys()).not.toContain("timer/deadline");
    d.feed(answered(idOf(1), false), openedAt + 2_000_000);
    expect(d.effect("startTimer")).toMatchObject({ delayMs: 298_000, since: openedAt + 2_000_000 });
    expect(d.context().clock).toEqual({ activeMs: 2_000, runningSince: openedAt + 2_000_000 });
  });

  test("does not count a tool that runs during the wait", () => {
    const d = waiting();
    d.feed(toolFinished(1, 2, "x"), openedAt + 900_000);
    expect(d.context().clock).toEqual({ activeMs: 2_000, runningSince: null });
  });

  test("leaves a child that starts after the answer all the time from before the question", () => {
    const d = drive({ limits: { maxDurationMs: 60_000 } });
    d.feed(reply(1, "", [shell("a")]), openedAt + 1_000);
    d.feed(question(0), openedAt + 5_000);
    d.feed(answered(idOf(0), false), openedAt + 905_000);
    d.feed(reply(2, "", [delegateTo("helper")]), openedAt + 906_000);
    expect(d.effect("runChild").request.remainingMs).toBe(60_000 - 5_000 - 1_000 - 1_000);
  });
});

test("is not started by the end of a pause while the run waits", () => {
  const d = waiting();
  d.feed(commanded({ kind: "run.paused" }), openedAt + 3_000);
  d.feed(commanded({ kind: "run.resumed" }), openedAt + 4_000);
  expect(d.context().clock).toEqual({ activeMs: 2_000, runningSince: null });
});

test("a run that was parked and resumed on another host keeps waiting, and continues after the answer", () => {
  const d = waiting();
  d.feed(toolFinished(1, 2, "x"));
  d.feed(parked, openedAt + 3_000);
  const again = drive();
  again.replay(d.facts);
  again.look();
  expect(again.on(claimed(), openedAt + 9_000_000)).toEqual({ state: "execute.act.working", started: [], stopped: [] });
  expect(again.on(answered(idOf(0), true), openedAt + 9_000_100).started).toEqual(["tool/1/0"]);
  again.feed(answered(idOf(1), true), openedAt + 9_000_200);
  expect(again.effect("startTimer")).toMatchObject({ delayMs: 298_000, since: openedAt + 9_000_200 });
});
