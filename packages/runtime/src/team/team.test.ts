import { setTimeout as sleep } from "node:timers/promises";
import type { ModelRequest, RunRequest } from "@troupe/core";
import { createSimulatedClock } from "@troupe/core/memory";
import { createToolHost, defineTool, type Tool } from "@troupe/tools";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { Script } from "../host/host-deps.test-helper.ts";
import { createTestDeps, delegate, toolCall } from "../host/host-deps.test-helper.ts";
import type { SpawnOptions, TeamOptions } from "./options.ts";
import type { Spawned } from "./spawn.ts";
import { createGate, done, startTeam, stopTeams } from "./team.test-helper.ts";
import { createTeam, type Team } from "./team.ts";

afterEach(stopTeams);

async function settledOf(spawned: Spawned): Promise<Spawned> {
  await spawned.response;
  return spawned;
}

describe("a task", () => {
  it("is a session of its own, and has the response of its run", async () => {
    const { team, deps } = await startTeam(done);
    const spawned = [team.spawn("a", "one"), team.spawn("a", "two")];
    const responses = await Promise.all(spawned.map(({ response }) => response));
    expect(responses).toMatchObject([
      { status: "completed", summary: "a did one", runId: spawned[0]?.run, sessionId: spawned[0]?.session },
      { status: "completed", summary: "a did two", runId: spawned[1]?.run, sessionId: spawned[1]?.session },
    ]);
    expect(new Set(responses.map(({ sessionId }) => sessionId)).size).toBe(2);
    const [inbox] = await deps.journal.readInbox(spawned[0]?.session ?? "");
    expect(inbox?.item).toMatchObject({ kind: "session.requested", origin: "api", demo: false });
  });

  it("with a scripted model is labelled as a demo", async () => {
    const { team, deps } = await startTeam(done);
    const { session } = await settledOf(team.spawn("a", "x", { model: "scripted/demo" }));
    const [inbox] = await deps.journal.readInbox(session);
    expect(inbox?.item).toMatchObject({ demo: true });
  });

  it("is active from its start until it has settled", async () => {
    const gate = createGate();
    const { team, deps } = await startTeam(gate.script);
    const before = deps.clock.now();
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
    [{ limits: { maxDurationMs: "5m" } }, {}, { limits: { maxDurationMs: 300_000 } }],
    [{}, { workspace: "/usr" }, { workspace: { id: expect.any(String), path: "/usr" } }],
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
    ["a", { grant: { tools: ["echo"], agents: ["*"] } }, {}, { tools: ["echo"] }],
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

  it("cannot run a tool that it was not granted", async () => {
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
    const { team } = await startTeam(script, {}, (deps) => {
      deps.tools = createToolHost({ tools: [toolNamed("look"), toolNamed("touch")] });
    });
    expect(await team.spawn("a", "x", { tools: ["look"] }).response).toMatchObject({ status: "completed" });
    expect(ran).toEqual(["look"]);
  });

  it("has the tools and the limits of its role, or fewer", async () => {
    const narrow = { id: "narrow", tools: ["echo", "danger"], limits: { maxToolCalls: 4, maxDurationMs: 70_000 } };
    const { team, opened } = await startTeam(done, {}, (deps) => {
      const { agentSource } = createTestDeps({ agents: [narrow], script: done });
      Object.assign(deps, { agentSource });
    });
    const specOf = async (options: SpawnOptions) => {
      const { pin: spec } = await opened(await settledOf(team.spawn("narrow", "x", options)));
      return { tools: spec.grant.tools, limits: spec.limits };
    };
    expect(await specOf({})).toMatchObject({ tools: ["echo", "danger"], limits: narrow.limits });
    const fewer = { tools: ["echo", "deploy"], maxToolCalls: 2, timeoutMs: 9_000_000 };
    expect(await specOf(fewer)).toMatchObject({
      tools: ["echo"],
      limits: { maxToolCalls: 2, maxDurationMs: 70_000 },
    });
  });

  it("asks other agents only if its options say so", async () => {
    const script: Script = ({ origin }) =>
      origin.agent === "lead" && origin.step === 1 ? { calls: [delegate("a", "x")] } : { text: "done" };
    const { team } = await startTeam(script);
    const runsOf = async (options: SpawnOptions) => {
      const { metrics } = await team.spawn("lead", "x", options).response;
      return metrics.subtree.runs;
    };
    expect(await runsOf({})).toBe(1);
    expect(await runsOf({ delegates: true })).toBe(2);
  });

  it("works in the folder of its options, or else of the team", async () => {
    const { team, opened } = await startTeam(done);
    const folderOf = async (options: SpawnOptions) =>
      (await opened(await settledOf(team.spawn("a", "x", options)))).request.workspace.path;
    expect(await folderOf({})).toBe(import.meta.dirname);
    expect(await folderOf({ workspace: "/usr" })).toBe("/usr");
  });

  it("has a conversation of its own, which its limit keeps short", async () => {
    const seen: ModelRequest[] = [];
    const script: Script = (request) => {
      seen.push(request);
      const text = `${request.origin.step} `.repeat(1_000);
      return request.tools.length > 0 ? { calls: [toolCall("echo", { text })] } : { text: "done" };
    };
    const { team } = await startTeam(script);
    const limit = { maxContextTokens: 1_000 };
    const responses = await team.fanOut(["one", "two"].map((task) => ({ agent: "a", task, ...limit })));
    expect(responses).toMatchObject(
      responses.map(() => ({ status: "bailed_out", bailoutReason: "max_context", metrics: { toolCalls: 1 } })),
    );
    // The two runs start at the same time.
    const asked = seen
      .map(({ messages }) => messages)
      .sort((a, b) => ((a[0]?.text ?? "") < (b[0]?.text ?? "") ? -1 : 1));
    expect(asked).toEqual([[{ role: "user", text: "one" }], [{ role: "user", text: "two" }]]);
  });

  it("can use its number of tool calls and no more", async () => {
    const script: Script = ({ tools }) => (tools.length > 0 ? { calls: [toolCall("echo")] } : { text: "done" });
    const { team, deps } = await startTeam(script);
    expect(await team.spawn("a", "x", { maxToolCalls: 2 }).response).toMatchObject({ metrics: { toolCalls: 2 } });
    expect(deps.toolCalls).toHaveLength(2);
  });
});

describe("a task that cannot start has a response that says why:", () => {
  const nowhere = `${import.meta.dirname}/nowhere`;
  it.each<[string, Partial<TeamOptions>, string, string, unknown, { type: string; message: string }]>([
    ["an unknown agent", {}, "ghost", "x", {}, { type: "unknown_agent", message: 'no agent is called "ghost"' }],
    ["no task", {}, "a", " ", {}, { type: "params", message: "the task's task cannot be used: a task needs words" }],
    ["no duration", {}, "a", "x", { timeoutMs: "soon" }, { type: "params", message: '"soon" is not a duration' }],
    ["no time", {}, "a", "x", { timeoutMs: 0 }, { type: "params", message: "the task's timeoutMs cannot be used" }],
    ["a part of a call", {}, "a", "x", { maxToolCalls: 1.5 }, { type: "params", message: "the task's maxToolCalls" }],
    ["an unknown option", {}, "a", "x", { tool: [] }, { type: "params", message: '"tool"' }],
    ["no options at all", {}, "a", "x", null, { type: "params", message: "the task's options" }],
    ["an invalid signal", {}, "a", "x", { signal: "now" }, { type: "params", message: "the task's signal" }],
    ["an unknown tool", {}, "a", "x", { tools: ["ehco"] }, { type: "params", message: "did you mean echo?" }],
    ["no folder", {}, "a", "x", { workspace: nowhere }, { type: "params", message: `"${nowhere}" does not exist` }],
    [
      "an agent that is not granted",
      { grant: { agents: ["b"] } },
      "a",
      "x",
      {},
      { type: "permission", message: "the team's grant" },
    ],
    [
      "a denied agent",
      { grant: { denyAgents: ["a"] } },
      "a",
      "x",
      {},
      { type: "permission", message: "the team's grant" },
    ],
    [
      "an agent that the policy disables",
      {
        layers: [
          { from: "policy", kind: "policy", tools: null, denyTools: [], agents: null, denyAgents: ["a"], writes: null },
        ],
      },
      "a",
      "x",
      {},
      { type: "permission", message: "this machine's policy" },
    ],
    ["a disabled agent", {}, "retired", "x", {}, { type: "permission", message: "its own definition" }],
  ])("%s", async (_, teamOptions, agent, task, options, { type, message }) => {
    const { team, deps } = await startTeam(done, teamOptions);
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
    expect(await deps.journal.readInbox(session)).toEqual([]);
    expect(team.active.size).toBe(0);
  });

  it("an agent above the team", async () => {
    const { team } = await startTeam(done, { chain: ["a"] });
    expect(await team.spawn("a", "x").response).toMatchObject({
      status: "rejected",
      error: { type: "permission", message: "a → a is a cycle" },
    });
  });

  it.each([["subscribe"], ["appendInbox"], ["offer"]] as const)("ports that fail to %s", async (method) => {
    const { team, deps } = await startTeam(done);
    const failing = { subscribe: deps.bus, appendInbox: deps.journal, offer: deps.queue }[method];
    const spy = vi.spyOn(failing as unknown as Record<string, () => Promise<never>>, method);
    spy.mockRejectedValueOnce(new Error("EIO"));
    const { session, response } = team.spawn("a", "x");
    expect(await response).toMatchObject({ status: "failed", error: { type: "crashed", message: "EIO" } });
    const kinds = (await deps.journal.readInbox(session)).map(({ item }) => item.kind);
    // The next host that reads the journal does not start it.
    if (method === "offer") expect(kinds).toEqual(["session.requested", "session.cancelled"]);
    else expect(kinds).not.toContain("session.requested");
  });
});

describe("a run that ends badly is a response, not an exception:", () => {
  it("failing", async () => {
    const { team } = await startTeam(() => {
      throw new Error("no such model");
    });
    expect(await team.spawn("a", "x").response).toMatchObject({
      status: "failed",
      error: { type: "model", message: "no such model" },
    });
  });

  it.each<[SpawnOptions, number]>([
    [{ timeoutMs: 60_000 }, 60_000],
    [{ timeoutMs: "2m" }, 120_000],
    [{}, 300_000],
  ])("taking too long with %j: after %i ms", async (options, expectedMs) => {
    const gate = createGate();
    const clock = createSimulatedClock(1_000);
    const { team } = await startTeam(gate.script, {}, (deps) => Object.assign(deps, { clock }));
    const { response } = team.spawn("a", "x", options);
    await gate.reached(1);
    clock.advance(expectedMs);
    expect(await Promise.race([response, stillActive(team)])).toMatchObject({
      status: "timeout",
      bailoutReason: "timeout",
      error: { type: "timeout" },
      metrics: { durationMs: expectedMs },
    });
  });
});

/** Resolves with the active tasks if none of them settles soon. */
async function stillActive(team: Team): Promise<unknown> {
  await sleep(2_000);
  return [...team.active.values()];
}

it("a response whose message was lost is read from the journal", async () => {
  const clock = createSimulatedClock(1_000);
  const lost = Promise.withResolvers<void>();
  const { team } = await startTeam(done, {}, (deps) => {
    const { publish } = deps.bus;
    Object.assign(deps, { clock });
    deps.bus.publish = (subject, bytes) => {
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

describe("a team is not made of", () => {
  it.each<[string, object, string]>([
    ["no ports", { deps: undefined }, "missing: journal, queue"],
    ["some ports missing", { deps: { journal: {}, queue: {} } }, "missing: bus, subjects"],
    ["no model", { model: "" }, "the team's model cannot be used: name a model"],
    ["a relative folder", { workspace: "here" }, "the team's workspace cannot be used: use an absolute path"],
    ["a temperature that is too high", { temperature: 3 }, "the team's temperature cannot be used"],
    ["a fraction of a token", { budget: { tokens: 0.5 } }, "the team's budget.tokens cannot be used"],
    ["an unknown field in the grant", { grant: { tool: [] } }, "the team's grant cannot be used"],
  ])("%s", async (_, changes, message) => {
    const { deps } = await startTeam(done);
    const options = { deps, model: "test/model", workspace: "/", ...changes } as TeamOptions;
    expect(() => createTeam(options)).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) }),
    );
  });
});
