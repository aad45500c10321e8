/** A program asks agents by itself: every task has one response, whatever becomes of it, and nothing outlives the team. */
import type { ModelRequest, RunRequest, RunResponse } from "@troupe/core";
import { createSimulatedClock, type SimulatedClock } from "@troupe/core/memory";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type Script, type TestWorld, toolCall } from "../host/world.test-helper.ts";
import { defineTool, type Tool } from "../tools/define-tool.ts";
import { createToolHost } from "../tools/tool-host.ts";
import type { SpawnOptions, TeamOptions } from "./options.ts";
import { createGate, startTeam, stopTeams } from "./team.test-helper.ts";
import { createTeam } from "./team.ts";

const done: Script = ({ origin }) => ({ text: `${origin.agent} did ${origin.task}` });

afterEach(stopTeams);

describe("a task", () => {
  it("is a session of its own, and has the response of its run", async () => {
    const { team, world } = await startTeam(done);
    const spawned = [team.spawn("a", "one"), team.spawn("a", "two")];
    const responses = await Promise.all(spawned.map(({ response }) => response));
    expect(responses).toMatchObject([
      { status: "completed", summary: "a did one", runId: spawned[0]?.run, sessionId: spawned[0]?.session },
      { status: "completed", summary: "a did two", runId: spawned[1]?.run, sessionId: spawned[1]?.session },
    ]);
    expect(new Set(responses.map(({ sessionId }) => sessionId)).size).toBe(2);
    const [inbox] = await world.journal.readInbox(spawned[0]?.session ?? "");
    expect(inbox?.item).toMatchObject({ kind: "session.requested", origin: "api", demo: false });
  });

  it("is active from when it is handed over until it has settled", async () => {
    const gate = createGate();
    const { team, world } = await startTeam(gate.script);
    const before = world.clock.now();
    const { run, session, response } = team.spawn("a", "one");
    expect([...team.active]).toEqual([[run, { session, agent: "a", task: "one", startedAt: expect.any(Number) }]]);
    expect(team.active.get(run)?.startedAt).toBeGreaterThanOrEqual(before);
    gate.open();
    const seen = response.then(() => [...team.active]);
    expect(await seen).toEqual([]);
  });

  it.each<[string, { temperature?: number | null }, SpawnOptions, Partial<ModelRequest>]>([
    ["a", {}, {}, { model: "test/model", temperature: null }],
    ["a", { temperature: 0.3 }, {}, { model: "test/model", temperature: 0.3 }],
    ["a", { temperature: 0.3 }, { model: "test/big", temperature: 0 }, { model: "test/big", temperature: 0 }],
    ["b", { temperature: 0.3 }, {}, { model: "other/model", temperature: 0.9 }],
  ])(
    "of %s has the model and temperature of the team %j, unless it says %j",
    async (agent, team, options, expected) => {
      const asked: ModelRequest[] = [];
      const script: Script = (request) => {
        asked.push(request);
        return { text: "done" };
      };
      const started = await startTeam(script, team);
      await started.team.spawn(agent, "x", options).response;
      expect(asked).toMatchObject([expected]);
    },
  );

  it.each<[Partial<TeamOptions>, SpawnOptions, Partial<RunRequest>]>([
    [{}, {}, { depth: 1, chain: [], context: null, successCriteria: null, outputSchema: null, limits: {} }],
    [{ chain: ["top", "lead"] }, {}, { depth: 2, chain: ["top", "lead"] }],
    [{}, { context: "known", successCriteria: "it holds" }, { context: "known", successCriteria: "it holds" }],
    [{}, { outputSchema: { type: "string" } }, { outputSchema: { type: "string" } }],
    [
      { limits: { maxToolCalls: 5, maxIterations: 9 } },
      { maxToolCalls: 7, maxContextTokens: 4_000, timeoutMs: 1_000 },
      { limits: { maxToolCalls: 5, maxIterations: 9, maxContextTokens: 4_000, maxDurationMs: 1_000 } },
    ],
    [{ limits: { maxToolCalls: 5 } }, { maxToolCalls: 2 }, { limits: { maxToolCalls: 2 } }],
    [{}, { workspace: "/" }, { workspace: { id: expect.any(String), path: "/" } }],
  ])("of the team %j with %j is asked for as %j", async (teamOptions, options, expected) => {
    const { team, opened } = await startTeam(done, teamOptions);
    const spawned = team.spawn("a", "x", options);
    await spawned.response;
    expect((await opened(spawned)).request).toMatchObject(expected);
  });

  it.each<[string, Partial<TeamOptions>, SpawnOptions, { tools?: string[]; agents?: string[] }]>([
    ["a", {}, {}, { tools: ["echo", "danger", "deploy"] }],
    ["a", {}, { tools: ["echo"] }, { tools: ["echo"] }],
    ["a", {}, { tools: [] }, { tools: [] }],
    ["a", { grant: { denyTools: ["echo"] } }, { tools: ["echo", "danger"] }, { tools: ["danger"] }],
    ["lead", {}, {}, { agents: [] }],
    ["lead", {}, { delegates: true }, { agents: ["a"] }],
    ["lead", { grant: { agents: ["lead"] } }, { delegates: true }, { agents: [] }],
  ])("of %s in a team %j with %j may use %j", async (agent, teamOptions, options, grant) => {
    const { team, opened } = await startTeam(done, teamOptions);
    const spawned = team.spawn(agent, "x", options);
    await spawned.response;
    expect((await opened(spawned)).pin.grant).toMatchObject(grant);
  });

  it("cannot run a tool that it was not given, whatever its model asks for", async () => {
    const ran: string[] = [];
    const toolNamed = (name: string): Tool =>
      defineTool({
        name,
        description: name,
        input: z.strictObject({}),
        risk: "low",
        effect: "read",
        run: async () => {
          ran.push(name);
          return { output: name };
        },
      });
    const script: Script = ({ origin }) =>
      origin.step === 1 ? { calls: [toolCall("look"), toolCall("touch")] } : { text: "done" };
    const { team } = await startTeam(script, {}, (world) => {
      world.tools = createToolHost({ tools: [toolNamed("look"), toolNamed("touch")] });
    });
    expect(await team.spawn("a", "x", { tools: ["look"] }).response).toMatchObject({ status: "completed" });
    expect(ran).toEqual(["look"]);
  });

  it("may use its number of tool calls and no more", async () => {
    const script: Script = ({ tools }) => (tools.length > 0 ? { calls: [toolCall("echo")] } : { text: "done" });
    const { team, world } = await startTeam(script);
    expect(await team.spawn("a", "x", { maxToolCalls: 2 }).response).toMatchObject({ metrics: { toolCalls: 2 } });
    expect(world.toolCalls).toHaveLength(2);
  });
});

describe("what cannot be asked has a response that says why:", () => {
  const nowhere = `${import.meta.dirname}/nowhere`;
  it.each<[string, Partial<TeamOptions>, string, string, unknown, { type: string; message: string }]>([
    [
      "an agent that there is not",
      {},
      "nobody",
      "x",
      {},
      { type: "unknown_agent", message: 'no agent is called "nobody"' },
    ],
    ["no task", {}, "a", " ", {}, { type: "params", message: "the task's task cannot be used: a task needs words" }],
    ["no time", {}, "a", "x", { timeoutMs: 0 }, { type: "params", message: "the task's timeoutMs cannot be used" }],
    ["a part of a call", {}, "a", "x", { maxToolCalls: 1.5 }, { type: "params", message: "the task's maxToolCalls" }],
    ["an unknown option", {}, "a", "x", { tool: [] }, { type: "params", message: '"tool"' }],
    ["no options at all", {}, "a", "x", null, { type: "params", message: "the task's options" }],
    ["a signal that is none", {}, "a", "x", { signal: "now" }, { type: "params", message: "the task's signal" }],
    ["an unknown tool", {}, "a", "x", { tools: ["ehco"] }, { type: "params", message: "did you mean echo?" }],
    ["no folder", {}, "a", "x", { workspace: nowhere }, { type: "params", message: `"${nowhere}" does not exist` }],
    [
      "one who is not granted",
      { grant: { agents: ["b"] } },
      "a",
      "x",
      {},
      { type: "permission", message: "the team's grant" },
    ],
    [
      "one who is denied",
      { grant: { denyAgents: ["a"] } },
      "a",
      "x",
      {},
      { type: "permission", message: "the team's grant" },
    ],
    [
      "one whom the policy switched off",
      { layers: [{ from: "policy", kind: "policy", tools: null, denyTools: [], agents: null, denyAgents: ["a"] }] },
      "a",
      "x",
      {},
      { type: "permission", message: "this machine's policy" },
    ],
    ["one who is switched off", {}, "retired", "x", {}, { type: "permission", message: "its own definition" }],
  ])("%s", async (_, teamOptions, agent, task, options, { type, message }) => {
    const { team, world } = await startTeam(done, teamOptions);
    const { run, session, response } = team.spawn(agent, task, options as SpawnOptions);
    expect(await response).toMatchObject({
      runId: run,
      sessionId: session,
      agent,
      request: task,
      status: "rejected",
      success: false,
      error: { type, message: expect.stringContaining(message) },
    });
    expect(await world.journal.readInbox(session)).toEqual([]);
    expect(team.active.size).toBe(0);
  });

  it("one who is above the team", async () => {
    const { team } = await startTeam(done, { chain: ["a"] });
    expect(await team.spawn("a", "x").response).toMatchObject({
      status: "rejected",
      error: { type: "permission", message: "a → a is a cycle" },
    });
  });

  it.each([["subscribe"], ["appendInbox"], ["offer"]] as const)("a world that fails to %s", async (method) => {
    const { team, world } = await startTeam(done);
    const failing = { subscribe: world.bus, appendInbox: world.journal, offer: world.queue }[method];
    const spy = vi.spyOn(failing as unknown as Record<string, () => Promise<never>>, method);
    spy.mockRejectedValueOnce(new Error("EIO"));
    const { session, response } = team.spawn("a", "x");
    expect(await response).toMatchObject({ status: "failed", error: { type: "crashed", message: "EIO" } });
    const kinds = (await world.journal.readInbox(session)).map(({ item }) => item.kind);
    // Found by the next host that reads the journal, it is not begun after all.
    if (method === "offer") expect(kinds).toEqual(["session.requested", "session.cancelled"]);
    else expect(kinds).not.toContain("session.requested");
  });
});

describe("what a run does is no exception:", () => {
  it("failing", async () => {
    const { team } = await startTeam(() => {
      throw new Error("no such model");
    });
    expect(await team.spawn("a", "x").response).toMatchObject({
      status: "failed",
      error: { type: "model", message: "no such model" },
    });
  });

  it("taking too long", async () => {
    const gate = createGate();
    const clock = createSimulatedClock(1_000);
    const { team } = await startTeam(gate.script, {}, (world) => Object.assign(world, { clock }));
    const { response } = team.spawn("a", "x", { timeoutMs: 60_000 });
    await gate.reached(1);
    clock.advance(60_000);
    expect(await response).toMatchObject({ status: "timeout", bailoutReason: "timeout" });
  });
});

it("a response whose message is lost is found in the journal", async () => {
  const clock = createSimulatedClock(1_000);
  const lost = Promise.withResolvers<void>();
  const { team } = await startTeam(done, {}, (world) => {
    const { publish } = world.bus;
    Object.assign(world, { clock });
    world.bus.publish = (subject, bytes) => {
      if (subject.startsWith("troupe.settled.")) lost.resolve();
      else publish(subject, bytes);
    };
  });
  const { response } = team.spawn("a", "x");
  await lost.promise;
  expect(team.active.size).toBe(1);
  clock.advance(5_000);
  expect(await response).toMatchObject({ status: "completed" });
});

describe("a fan-out", () => {
  it("answers in the order in which it was asked, with failures in their places", async () => {
    const script: Script = async ({ origin }) => {
      if (origin.task === "2") throw new Error("broken");
      // The later, the sooner.
      for (let turns = 0; turns < 50 - Number(origin.task) * 10; turns += 1) await Promise.resolve();
      return { text: `did ${origin.task}` };
    };
    const { team } = await startTeam(script);
    const tasks = ["0", "1", "2", "3"].map((task) => ({ agent: task === "1" ? "nobody" : "a", task }));
    const responses = await team.fanOut(tasks, { maxConcurrent: 4 });
    expect(responses.map(({ request, status }) => [request, status])).toEqual([
      ["0", "completed"],
      ["1", "rejected"],
      ["2", "failed"],
      ["3", "completed"],
    ]);
  });

  it.each([
    [undefined, 3],
    [1, 1],
    [7, 7],
    [100, 20],
  ])("with maxConcurrent %s of 20 tasks runs %i at once, never more", async (maxConcurrent, expected) => {
    let [now, most] = [0, 0];
    const script: Script = async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return { text: "done" };
    };
    const { team } = await startTeam(script);
    const activeMost: number[] = [];
    const tasks = Array.from({ length: 20 }, (_, i) => ({ agent: "a", task: `${i}` }));
    const fanOut = team.fanOut(tasks, maxConcurrent === undefined ? {} : { maxConcurrent });
    const watching = setInterval(() => activeMost.push(team.active.size), 1);
    const responses = await fanOut.finally(() => clearInterval(watching));
    expect(responses.every(({ success }) => success)).toBe(true);
    expect(Math.max(...activeMost, most)).toBe(expected);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "3"])(
    "refuses maxConcurrent %s",
    async (maxConcurrent) => {
      const { team, world } = await startTeam(done);
      const fanOut = team.fanOut([{ agent: "a", task: "x" }], { maxConcurrent: maxConcurrent as number });
      await expect(fanOut).rejects.toMatchObject({
        code: "USAGE",
        message: expect.stringContaining(`${maxConcurrent}`),
      });
      expect(world.modelCalls).toEqual([]);
    },
  );

  it("of nothing is nothing", async () => {
    expect(await (await startTeam(done)).team.fanOut([])).toEqual([]);
  });

  it("stops by its signal: what runs is cancelled, what waits is never asked", async () => {
    const gate = createGate();
    const { team, world } = await startTeam(gate.script);
    const stop = new AbortController();
    const tasks = ["0", "1", "2", "3"].map((task) => ({ agent: "a", task }));
    const fanOut = team.fanOut(tasks, { maxConcurrent: 2, signal: stop.signal });
    await gate.reached(2);
    stop.abort("enough");
    expect((await fanOut).map(({ status, error }) => [status, error?.message])).toEqual(
      tasks.map(() => ["cancelled", expect.stringContaining("enough")]),
    );
    expect(world.modelCalls).toHaveLength(2);
  });

  it("lets one task be stopped by a signal of its own, and the others be", async () => {
    const gate = createGate();
    const { team } = await startTeam(gate.script);
    const stop = new AbortController();
    const fanOut = team.fanOut([
      { agent: "a", task: "0", signal: stop.signal },
      { agent: "a", task: "1" },
    ]);
    await gate.reached(2);
    stop.abort();
    await vi.waitUntil(() => team.active.size === 1);
    gate.open();
    expect((await fanOut).map(({ status }) => status)).toEqual(["cancelled", "completed"]);
  });
});

describe("a task is stopped", () => {
  it.each<[string, (by: { cancel(): void; abort(): void; all(): void }) => void, string]>([
    ["by whoever spawned it", ({ cancel }) => cancel(), "cancelled by the program"],
    ["by its signal", ({ abort }) => abort(), "out of patience"],
    ["with all others", ({ all }) => all(), "that is all"],
  ])("%s", async (_, stop, reason) => {
    const gate = createGate();
    const { team, host } = await startTeam(gate.script);
    const patience = new AbortController();
    const { response, cancel } = team.spawn("a", "x", { signal: patience.signal });
    await gate.reached(1);
    stop({
      cancel,
      abort: () => patience.abort(new Error("out of patience")),
      all: () => team.cancelAll("that is all"),
    });
    expect(await response).toMatchObject({ status: "cancelled", error: { type: "cancelled", message: reason } });
    expect(host.activeRuns()).toBe(0);
  });

  it("before it was asked, where its signal had aborted before", async () => {
    const { team, world } = await startTeam(done);
    const { session, response } = team.spawn("a", "x", { signal: AbortSignal.abort("too late") });
    expect(await response).toMatchObject({ status: "cancelled", error: { message: "too late" } });
    expect(await world.journal.readInbox(session)).toEqual([]);
  });

  it("before it was asked, where that was still being made ready", async () => {
    const { team, world } = await startTeam(done);
    const { session, response, cancel } = team.spawn("a", "x");
    cancel("never mind");
    expect(await response).toMatchObject({ status: "cancelled", error: { message: "never mind" } });
    expect(await world.journal.readInbox(session)).toEqual([]);
  });

  it("though its signal aborted while it was being handed over", async () => {
    const gate = createGate();
    const stop = new AbortController();
    const { team } = await startTeam(gate.script, {}, (world) => {
      const { offer } = world.queue;
      world.queue.offer = async (task) => {
        const offered = await offer(task);
        stop.abort("just now");
        return offered;
      };
    });
    const { response } = team.spawn("a", "x", { signal: stop.signal });
    expect(await response).toMatchObject({ status: "cancelled", error: { message: "just now" } });
  });

  it("though the journal refuses the wish at first", async () => {
    const gate = createGate();
    const clock = createSimulatedClock(1_000);
    const { team, world } = await startTeam(gate.script, {}, (made) => Object.assign(made, { clock }));
    const { response, cancel } = team.spawn("a", "x");
    await gate.reached(1);
    const append = vi.spyOn(world.journal, "appendInbox").mockRejectedValueOnce(new Error("disk full"));
    cancel();
    await vi.waitUntil(() => append.mock.calls.length === 1);
    expect(await advanceUntil(clock, response)).toMatchObject({ status: "cancelled" });
  });

  it("and after its end nothing is said of it any more", async () => {
    const { team, world } = await startTeam(done);
    const { session, response, cancel } = team.spawn("a", "x");
    await response;
    cancel();
    team.cancelAll();
    expect((await world.journal.readInbox(session)).map(({ item }) => item.kind)).toEqual(["session.requested"]);
  });
});

/** Moves time on by seconds until something has come. */
async function advanceUntil<T>(clock: SimulatedClock, awaited: Promise<T>): Promise<T> {
  let come = false;
  void awaited.then(() => {
    come = true;
  });
  while (!come) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await awaited;
}

describe("a team's budget", () => {
  const budgets = async (started: Awaited<ReturnType<typeof startTeam>>, responses: readonly RunResponse[]) => {
    const opened = responses.map(({ runId, sessionId }) => started.opened({ run: runId, session: sessionId }));
    return (await Promise.all(opened)).map(({ request }) => request.budget);
  };
  const three = ["1", "2", "3"].map((task) => ({ agent: "a", task }));

  it("is divided among the tasks, and what one leaves goes to the next", async () => {
    const started = await startTeam(done, { budget: { tokens: 30_000, toolCalls: 9 } });
    const responses = await started.team.fanOut(three, { maxConcurrent: 1 });
    // Each call of the test's model takes 15 tokens, and no tool.
    expect(await budgets(started, responses)).toMatchObject([
      { tokens: 10_000, toolCalls: 3 },
      { tokens: 14_992, toolCalls: 4 },
      { tokens: 29_970, toolCalls: 9 },
    ]);
  });

  it("is divided among tasks that were spawned one by one, too", async () => {
    const started = await startTeam(done, { budget: { tokens: 30_000 } });
    const spawned = three.map(({ agent, task }) => started.team.spawn(agent, task));
    const responses = await Promise.all(spawned.map(({ response }) => response));
    for (const { tokens } of await budgets(started, responses)) expect(tokens).toBeGreaterThanOrEqual(10_000);
  });

  it("lets a task that says so take less", async () => {
    const started = await startTeam(done, { budget: { tokens: 30_000 } });
    const response = await started.team.spawn("a", "x", { budget: { tokens: 5_000 } }).response;
    expect(await budgets(started, [response])).toMatchObject([{ tokens: 5_000 }]);
  });

  it("rejects a task that nothing is left for, and no other", async () => {
    const { team } = await startTeam(done, { budget: { spawns: 2 } });
    const responses = await team.fanOut(three);
    expect(responses.map(({ status }) => status).sort()).toEqual(["completed", "completed", "rejected"]);
    const rejected = responses.find(({ status }) => status === "rejected");
    expect(rejected?.error).toMatchObject({ type: "budget", message: expect.stringContaining("nothing is left") });
  });

  it("loses nothing to tasks that were never asked", async () => {
    const { team } = await startTeam(done, { budget: { spawns: 1 } });
    await team.spawn("nobody", "x").response;
    await team.spawn("a", "x", { signal: AbortSignal.abort() }).response;
    expect(await team.spawn("a", "x").response).toMatchObject({ status: "completed" });
  });
});

describe("a closed team", () => {
  it("leaves nothing running, and nothing that listens or waits", async () => {
    const gate = createGate();
    const left = { subscriptions: 0, timers: 0 };
    const { team, host, world } = await startTeam(gate.script);
    const counted = createTeam({ world: counting(world, left), model: "test/model", workspace: import.meta.dirname });
    const single = counted.spawn("a", "single");
    const fanOut = counted.fanOut(["0", "1", "2", "3", "4"].map((task) => ({ agent: "a", task })));
    await gate.reached(4);
    expect(left.subscriptions).toBe(4);
    await counted.close();
    expect([host.activeRuns(), counted.active.size, left]).toEqual([0, 0, { subscriptions: 0, timers: 0 }]);
    const responses = [await single.response, ...(await fanOut)];
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => "cancelled"));
    expect(gate.asked).toHaveLength(4);
    expect(await world.journal.openRuns()).toEqual([]);
    expect(team.active.size).toBe(0);
  });

  it("takes nothing new", async () => {
    const { team } = await startTeam(done);
    await team.close();
    expect(() => team.spawn("a", "x")).toThrow(expect.objectContaining({ code: "CLOSED" }));
    await expect(team.fanOut([])).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("is closed once, whoever asks how often", async () => {
    const { team } = await startTeam(done);
    expect(team.close()).toBe(team.close());
    await team.close();
  });

  it("does not wait for ever where nobody is there to run anything", async () => {
    const clock = createSimulatedClock(1_000);
    const offered = Promise.withResolvers<void>();
    const { team, host, world } = await startTeam(done, {}, (made) => Object.assign(made, { clock }));
    await host.stop({ graceMs: 0 });
    const { offer } = world.queue;
    world.queue.offer = (task) => offer(task).finally(offered.resolve);
    const { session, response } = team.spawn("a", "x");
    await offered.promise;
    const closed = team.close({ graceMs: 30_000 });
    clock.advance(29_999);
    expect(team.active.size).toBe(1);
    clock.advance(1);
    await closed;
    expect(await response).toMatchObject({
      status: "cancelled",
      error: {
        message: expect.stringContaining(`the team was closed, and its end was not waited for: session ${session}`),
      },
    });
    // Whoever takes it up one day finds that it is to stop.
    const items = await world.journal.readInbox(session);
    expect(items.map(({ item }) => item.kind)).toEqual(["session.requested", "session.cancelled"]);
  });
});

/** Counts what is taken of a world and not given back. */
function counting(world: TestWorld, left: { subscriptions: number; timers: number }): TestWorld {
  return {
    ...world,
    bus: {
      ...world.bus,
      async subscribe(pattern, listener) {
        left.subscriptions += 1;
        const { unsubscribe } = await world.bus.subscribe(pattern, listener);
        return {
          unsubscribe() {
            left.subscriptions -= 1;
            unsubscribe();
          },
        };
      },
    },
    clock: {
      ...world.clock,
      after(delayMs, callback) {
        left.timers += 1;
        const giveBack = once(() => {
          left.timers -= 1;
        });
        const cancel = world.clock.after(delayMs, () => {
          giveBack();
          callback();
        });
        return () => {
          giveBack();
          cancel();
        };
      },
    },
  };
}

function once(act: () => void): () => void {
  let acted = false;
  return () => {
    if (!acted) act();
    acted = true;
  };
}

describe("a team is not made of", () => {
  it.each<[string, object, string]>([
    ["no world", { world: undefined }, "has no journal, no queue"],
    ["half a world", { world: { journal: {}, queue: {} } }, "has no bus, no subjects"],
    ["no model", { model: "" }, "the team's model cannot be used: name a model"],
    ["a relative folder", { workspace: "here" }, "the team's workspace cannot be used: an absolute path is needed"],
    ["too much heat", { temperature: 3 }, "the team's temperature cannot be used"],
    ["half a token", { budget: { tokens: 0.5 } }, "the team's budget.tokens cannot be used"],
    ["a grant of something else", { grant: { tool: [] } }, "the team's grant cannot be used"],
  ])("%s", async (_, changes, message) => {
    const { world } = await startTeam(done);
    const options = { world, model: "test/model", workspace: "/", ...changes } as TeamOptions;
    expect(() => createTeam(options)).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) }),
    );
  });
});
