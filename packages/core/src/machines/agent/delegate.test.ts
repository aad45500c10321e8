/** Delegations within a run: side by side, queued beyond the cap, each with a life of its own. */
import { describe, expect, test } from "vitest";
import { unlimited } from "../../budget/ledger.ts";
import { childRunId } from "../../protocol/ids.ts";
import {
  anError,
  aToolCall,
  childSettled,
  delegateTo,
  delegations,
  reply,
  run,
  type SpecChanges,
  session,
  timerFired,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver, openedAt } from "../machine-driver.test-helper.ts";

function delegating(count: number, changes: SpecChanges = {}): MachineDriver {
  const d = drive(changes);
  d.look();
  d.feed(reply(1, "", delegations(count)));
  return d;
}

function results(d: MachineDriver): { text: string; isError: boolean }[] {
  return d
    .effect("callModel")
    .messages.flatMap((message) => (message.role === "tool" ? [{ text: message.text, isError: message.isError }] : []));
}

const network = { error: anError({ type: "network" }) };
const permanent = { error: anError({ type: "params", recoverable: false, message: "bad" }) };

describe("a delegation", () => {
  test("is one request with all fields of the child", () => {
    const d = drive({}, { chain: [], userId: "ada", workspace: { id: "w1", path: "/w" } });
    const call = aToolCall("delegate", { agent: "helper", task: " find it ", success_criteria: "found" });
    d.feed(reply(1, "", [call]), openedAt + 2_000);
    expect(d.effect("runChild")).toEqual({
      kind: "runChild",
      run,
      step: 1,
      call: 0,
      item: 0,
      request: {
        v: 1,
        session,
        run: childRunId({ parentRun: run, step: 1, call: 0, attempt: 1 }),
        parent: { run, agent: "main", step: 1, call: 0, item: 0 },
        agent: "helper",
        depth: 1,
        attempt: 1,
        task: "find it",
        context: null,
        contextMode: "task_only",
        contextFiles: [],
        successCriteria: "found",
        userId: "ada",
        chain: ["main"],
        continues: null,
        ancestors: [run],
        layers: [
          { from: "main", kind: "agent", tools: null, denyTools: [], agents: null, denyAgents: [], writes: null },
        ],
        budget: unlimited,
        limits: { maxDepth: 3 },
        model: "scripted/any",
        temperature: null,
        parentPrompt: null,
        outputSchema: null,
        workspace: { id: "w1", path: "/w" },
        remainingMs: 300_000 - 2_000 - 1_000,
      },
    });
  });

  test.each(["delegate", "delegate_to_agent", "Task", "task", "Agent"])("may use the name %s", (name) => {
    const d = drive();
    d.feed(reply(1, "", [aToolCall(name, { role: "helper", task: "find it" })]));
    expect(d.effect("runChild").request.agent).toBe("helper");
  });

  test("returns the JSON of the child's response to the model", () => {
    const d = delegating(1);
    expect(d.on(childSettled(1, 0, { summary: "found", filesCreated: ["a"] }))).toEqual({
      state: "execute.think",
      started: ["model/2"],
      stopped: [],
    });
    const [result] = results(d);
    expect(result?.isError).toBe(false);
    expect(JSON.parse(result?.text ?? "")).toMatchObject({
      status: "completed",
      summary: "found",
      files_created: ["a"],
    });
    expect(d.context().usage).toMatchObject({ toolsUsed: ["delegate"], filesCreated: ["a"] });
  });

  test("leaves no actor behind once it has settled", () => {
    const d = delegating(2);
    expect(d.children()).toEqual(expect.arrayContaining(["batch/1/0", "batch/1/1"]));
    d.feed(childSettled(1, 0));
    expect(d.children()).not.toContain("batch/1/0");
    d.feed(childSettled(1, 1));
    expect(d.children().filter((id) => id.startsWith("batch/"))).toEqual([]);
  });
});

describe("delegations queue beyond maxConcurrent", () => {
  test("all are planned, as many as the cap are offered, and the rest follow as siblings settle", () => {
    const d = delegating(4, { limits: { maxConcurrent: 2 } });
    expect(d.look().started).toEqual(["plan/1", "child/1/0/0/1", "child/1/1/0/1"]);
    expect(d.children().filter((id) => id.startsWith("batch/"))).toHaveLength(4);
    expect(d.on(childSettled(1, 1)).started).toEqual(["child/1/2/0/1"]);
    expect(d.on(childSettled(1, 0)).started).toEqual(["child/1/3/0/1"]);
    expect(d.on(childSettled(1, 3)).started).toEqual([]);
    expect(d.on(childSettled(1, 2)).started).toEqual(["model/2"]);
  });

  test("a delegation that waits for its retry keeps its slot", () => {
    const d = delegating(2, { limits: { maxConcurrent: 1 } });
    expect(d.on(childSettled(1, 0, network)).started).toEqual(["timer/retry/1/0/0/1"]);
    expect(d.on(timerFired("retry/1/0/0/1")).started).toEqual(["child/1/0/0/2"]);
    expect(d.on(childSettled(1, 0, {}, 2)).started).toEqual(["child/1/1/0/1"]);
  });

  test("an offer has the time that is left at that moment", () => {
    const d = delegating(2, { limits: { maxConcurrent: 1, maxDurationMs: 60_000 } });
    d.feed(childSettled(1, 0), openedAt + 20_000);
    expect(d.effect("runChild")).toMatchObject({ call: 1, request: { remainingMs: 39_000 } });
  });

  test("without time left, queued delegations settle without an offer", () => {
    const d = delegating(3, { limits: { maxConcurrent: 1, maxDurationMs: 60_000 } });
    d.look();
    expect(d.on(childSettled(1, 0), openedAt + 59_500)).toMatchObject({
      state: "execute.act.working",
      started: ["child/1/1/0/1", "child/1/2/0/1"],
    });
    expect(d.pending().map(({ kind }) => kind)).toEqual(["startTimer", "dropChild", "dropChild"]);
    d.settleDropped();
    expect(d.state()).toBe("execute.think");
    expect(results(d).map(({ isError }) => isError)).toEqual([false, true, true]);
    expect(results(d)[1]?.text).toContain("no time is left");
    expect(d.children().filter((id) => id.startsWith("batch/"))).toEqual([]);
  });

  test("time without a host is not taken from the children", () => {
    const d = drive({ limits: { maxDurationMs: 60_000 } });
    d.feed({ kind: "run.claimed", reason: "resumed" }, openedAt + 1_000_000);
    d.feed(reply(1, "", [delegateTo("helper")]), openedAt + 1_010_000);
    expect(d.effect("runChild").request.remainingMs).toBe(49_000);
  });
});

describe("siblings do not disturb each other", () => {
  test("one fails, the others continue, and the results are in call order", () => {
    const d = delegating(3);
    d.look();
    expect(d.on(childSettled(1, 1, permanent))).toEqual({ state: "execute.act.working", started: [], stopped: [] });
    d.feed(childSettled(1, 2, { summary: "c" }));
    d.feed(childSettled(1, 0, { summary: "a" }));
    expect(results(d).map(({ text, isError }) => [JSON.parse(text).summary, isError])).toEqual([
      ["a", false],
      ["done", true],
      ["c", false],
    ]);
  });
});

describe("a recoverable failure is retried", () => {
  test("after a backoff, as another run", () => {
    const d = delegating(1);
    d.look();
    const first = d.effect("runChild").request;
    expect(d.on(childSettled(1, 0, network))).toEqual({
      state: "execute.act.working",
      started: ["timer/retry/1/0/0/1"],
      stopped: [],
    });
    expect(d.pending().find((effect) => effect.kind === "startTimer" && effect.timer !== "deadline")).toMatchObject({
      delayMs: 1_000,
    });
    expect(d.on(timerFired("retry/1/0/0/1"), openedAt + 5_000).started).toEqual(["child/1/0/0/2"]);
    const second = d.effect("runChild").request;
    expect(second).toEqual({
      ...first,
      attempt: 2,
      run: childRunId({ parentRun: run, step: 1, call: 0, attempt: 2 }),
      remainingMs: 294_000,
    });
    expect(d.on(childSettled(1, 0, { summary: "at last" }, 2)).state).toBe("execute.think");
    expect(results(d)[0]?.text).toContain("at last");
  });

  test("every attempt counts in the usage of the subtree", () => {
    const d = delegating(1);
    d.feed(childSettled(1, 0, { ...network, filesCreated: ["half"], subtree: { inputTokens: 500, costUsd: 1 } }));
    d.feed(timerFired("retry/1/0/0/1"));
    d.feed(childSettled(1, 0, { filesCreated: ["whole"], subtree: { runs: 3, inputTokens: 7 } }, 2));
    d.feed(reply(2, "done"));
    expect(d.response()).toMatchObject({ filesCreated: ["half", "whole"] });
    expect(d.response().metrics.subtree).toMatchObject({ runs: 5, inputTokens: 200 + 507 });
  });

  test.each([
    ["a settled attempt again", childSettled(1, 0, network)],
    ["an attempt that has not started", childSettled(1, 0, {}, 3)],
    ["another call's timer", timerFired("retry/1/5/0/1")],
    ["an attempt of an earlier step", timerFired("retry/0/0/0/1")],
    ["a past backoff", timerFired("retry/1/0/0/1")],
    ["a timer without a number", timerFired("retry/x")],
  ])("%s is ignored", (_, fact) => {
    const d = delegating(1, { retry: { maxAttempts: 5 } });
    d.feed(childSettled(1, 0, network));
    d.feed(timerFired("retry/1/0/0/1"));
    const { usage } = d.context();
    expect(d.on(fact)).toEqual({ state: "execute.act.working", started: [], stopped: [] });
    expect(d.context().usage).toEqual(usage);
  });

  test("a late timer does not reach a later turn", () => {
    const d = delegating(1);
    d.feed(childSettled(1, 0));
    expect(d.on(timerFired("retry/1/0/0/1"))).toEqual({ state: "execute.think", started: [], stopped: [] });
  });
});

describe("an invalid call gets an error at once", () => {
  const refused: [string, unknown, string, Parameters<typeof drive>[1]?][] = [
    ["no arguments", {}, "delegate: agent: name the agent"],
    ["arguments with another schema", ["helper"], "delegate: arguments: "],
    ["no task", { agent: "helper", task: "  " }, "delegate: task: say what the agent should do"],
    ["no agent", { task: "find it" }, "delegate: agent: name the agent"],
    ["an invalid name", { agent: "a.b", task: "find it" }, "delegate: agent: "],
    [
      "an unknown agent",
      { agent: "missing", task: "x" },
      'you cannot delegate to "missing"; you can to: helper, writer',
    ],
    [
      "an agent of the chain",
      { agent: "helper", task: "x" },
      "helper → main → helper is a cycle",
      { chain: ["helper"] },
    ],
    ["too deep", { agent: "helper", task: "x" }, "depth 4 is over the limit of 3", { depth: 3 }],
    ["no time left", { agent: "helper", task: "x" }, "no time is left", { remainingMs: 900 }],
  ];
  test.each(refused)("%s", (_, args, message, request) => {
    const d = drive({}, request ?? {});
    d.look();
    const call = aToolCall("delegate", args as ReturnType<typeof aToolCall>["args"]);
    expect(d.on(reply(1, "", [call]))).toEqual({ state: "execute.think", started: ["plan/1", "model/2"], stopped: [] });
    const [result] = results(d);
    expect([result?.isError, JSON.parse(result?.text ?? "").error.message]).toEqual([
      true,
      expect.stringContaining(message),
    ]);
    expect(d.children().filter((id) => id.startsWith("batch/"))).toEqual([]);
  });

  test("a child at the depth limit starts", () => {
    const d = drive({}, { depth: 2 });
    d.feed(reply(1, "", [delegateTo("helper")]));
    expect(d.effect("runChild").request.depth).toBe(3);
  });

  test("the other calls of its turn continue", () => {
    const d = drive();
    d.look();
    expect(d.on(reply(1, "", [delegateTo("missing"), delegateTo("helper")])).started).toEqual([
      "plan/1",
      "child/1/1/0/1",
    ]);
    d.feed(childSettled(1, 1));
    expect(results(d).map(({ isError }) => isError)).toEqual([true, false]);
  });

  test("a leaf is told that it cannot delegate", () => {
    const d = drive({ targets: [] });
    d.feed(reply(1, "", [delegateTo("helper")]));
    expect(JSON.parse(results(d)[0]?.text ?? "")).toEqual({
      error: { type: "permission", message: 'you cannot delegate to "helper": this agent delegates to nobody' },
    });
  });
});

describe("the hint that a host has claimed the child", () => {
  test("starts and stops nothing", () => {
    const d = delegating(1);
    d.look();
    d.hint({ type: "child.claimed", step: 1, call: 0, item: 0 });
    expect(d.look()).toEqual({ started: [], stopped: [] });
    expect(d.on(childSettled(1, 0)).state).toBe("execute.think");
  });

  test.each([
    ["an unknown call", 1, 7],
    ["an earlier step", 0, 0],
    ["a child that has settled", 1, 0],
  ])("about %s is ignored", (_, step, call) => {
    const d = delegating(2);
    d.feed(childSettled(1, 0));
    d.hint({ type: "child.claimed", step, call, item: 0 });
    expect(d.state()).toBe("execute.act.working");
  });
});

describe("an agent of a team", () => {
  const inTeam: SpecChanges = {
    definition: { id: "main", team: "news" },
    targets: ["news_writer", "books_editor", "reader"],
  };

  test.each([
    ["writer", "news_writer"],
    ["news/writer", "news_writer"],
    ["news_writer", "news_writer"],
    ["books/editor", "books_editor"],
    ["reader", "reader"],
  ])("asks %s, which is %s", (name, id) => {
    const d = drive(inTeam);
    d.feed(reply(1, "", [delegateTo(name)]));
    expect(d.effect("runChild").request.agent).toBe(id);
  });

  test("cannot ask an agent of another team by its short name", () => {
    const d = drive(inTeam);
    d.feed(reply(1, "", [delegateTo("editor")]));
    expect(results(d)[0]).toMatchObject({ isError: true, text: expect.stringContaining("editor") });
  });
});
