/**
 * The budget of a tree holds over real runs. Any number of model replies stays within the budget that
 * was given, and the answer still comes.
 */
import { Budget, type ModelReply, type RunRequest, type RunResponse } from "@troupe/core";
import { afterEach, describe, expect, it } from "vitest";
import { type ActorHost, createActorHost } from "./actor-host.ts";
import {
  ask,
  createTestDeps,
  delegate,
  endsWith,
  entriesOf,
  entriesOnce,
  rootRequest,
  type Script,
  type TestDeps,
  toolCall,
} from "./host-deps.test-helper.ts";
import { sendCommand } from "./run/send-command.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const agents = [
  { id: "main", subagents: { allow: ["helper", "lead"] } },
  { id: "lead", subagents: { allow: ["helper"] } },
  { id: "helper" },
];
const price = { inputPerMillion: 3, outputPerMillion: 15 };
const hosts: ActorHost[] = [];

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop({ graceMs: 50 })));
});

/** A model that always says as much as it may, and bills it by its price. */
function withMaximumUsage(script: Script): Script {
  return async (request, signal) => {
    const reply: Partial<ModelReply> = await script(request, signal);
    const characters = request.messages.reduce((sum, { text }) => sum + text.length, request.system.length);
    const inputTokens = Math.ceil(characters / 4);
    const outputTokens = request.maxOutputTokens;
    const costUsd = (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000;
    return { ...reply, usage: { inputTokens, outputTokens, cachedTokens: 0, costUsd } };
  };
}

/** Delegates as long as it can, and its agents do the same. */
const alwaysDelegating: Script = ({ origin, tools }) => {
  const canDelegate = tools.some(({ name }) => name === "delegate");
  if (canDelegate && origin.agent === "main") {
    return { calls: [1, 2, 3].map((i) => delegate("lead", `part ${origin.step}.${i}`, `${i}`)) };
  }
  if (canDelegate) return { calls: [delegate("helper", `piece ${origin.step}`)] };
  const echo = tools.some(({ name }) => name === "echo");
  return echo && origin.step < 3
    ? { text: "on it", calls: [toolCall("echo", { step: origin.step })] }
    : { text: "done" };
};

async function runTree(budget: Partial<Budget>, script: Script): Promise<{ response: RunResponse; deps: TestDeps }> {
  const deps = createTestDeps({ agents, script: withMaximumUsage(script), price });
  const host = createActorHost({ deps, capacity: 4 });
  hosts.push(host);
  await host.start();
  const response = await ask(deps, rootRequest({ run, budget: Budget.parse(budget) }));
  return { response, deps };
}

describe("a budget for a whole tree", () => {
  it.each([
    { what: "tokens", budget: { tokens: 60_000 } },
    { what: "money", budget: { costUsd: 0.5 } },
    { what: "tool calls", budget: { toolCalls: 9, tokens: 200_000 } },
    { what: "runs", budget: { spawns: 4, tokens: 200_000 } },
    { what: "everything", budget: { tokens: 100_000, costUsd: 1, toolCalls: 20, spawns: 10 } },
  ])("of $what holds, and leaves enough for an answer", async ({ budget }) => {
    const { response } = await runTree(budget, alwaysDelegating);
    const { charged, subtree } = response.metrics;
    const given = Budget.parse(budget);
    for (const kind of ["tokens", "costUsd", "toolCalls", "spawns"] as const) {
      if (given[kind] !== null) expect(charged[kind], kind).toBeLessThanOrEqual(given[kind]);
    }
    expect(subtree.totalTokens).toBeLessThanOrEqual(charged.tokens);
    expect(subtree.runs - 1).toBeLessThanOrEqual(charged.spawns);
    expect(response.details).not.toBe("");
    expect(["completed", "bailed_out"]).toContain(response.status);
  });

  it("refuses a model of unknown price if costs are limited", async () => {
    const deps = createTestDeps({ agents, script: () => ({ text: "done" }), price: null });
    const host = createActorHost({ deps });
    hosts.push(host);
    await host.start();
    const response = await ask(deps, rootRequest({ run, budget: Budget.parse({ costUsd: 1 }) }));
    expect(response).toMatchObject({ status: "rejected", error: { type: "budget" } });
    expect(deps.modelCalls).toEqual([]);
  });

  it("settles a child without a budget without starting it", async () => {
    const script: Script = ({ origin }) =>
      origin.agent === "main" && origin.step === 1
        ? { calls: ["a", "b", "c"].map((task) => delegate("helper", task)) }
        : { text: "done" };
    const { response, deps } = await runTree({ spawns: 2 }, script);
    expect(response).toMatchObject({ status: "completed" });
    const entries = await entriesOf(deps, rootRequest({ run }));
    const settled = entries.flatMap((entry) => (entry.kind === "child.settled" ? [entry.response] : []));
    expect(settled.map(({ status }) => status).sort()).toEqual(["completed", "completed", "rejected"]);
    const refused = settled.find(({ status }) => status === "rejected") as RunResponse;
    expect(refused.error?.type).toBe("budget");
    expect(await entriesOf(deps, { session: refused.sessionId, run: refused.runId })).toEqual([]);
  });
});

it("a model call that was lost with its host is charged its reservation", async () => {
  const request: RunRequest = rootRequest({ run, budget: Budget.parse({ tokens: 50_000 }) });
  const before = createTestDeps({ agents, script: () => new Promise(() => {}), price });
  const lost = createActorHost({ deps: before });
  await lost.start();
  void ask(before, request);
  await entriesOnce(before, request, endsWith("run.opened"));
  while (before.modelCalls.length === 0) await new Promise((resolve) => setImmediate(resolve));

  const after = createTestDeps({ agents, script: withMaximumUsage(() => ({ text: "done" })), price, keep: before });
  const host = createActorHost({ deps: after });
  hosts.push(host);
  await host.start();
  const response = await ask(after, request);
  const { charged, totalTokens } = response.metrics;
  expect(response.status).toBe("completed");
  expect(charged.tokens).toBe(totalTokens);
  expect(charged.tokens).toBeLessThanOrEqual(50_000);
  // A killed host leaves no estimate, so the highest possible usage counts.
  expect(response.metrics.estimated?.tokens).toBeGreaterThan(8_192);
  expect(response.warnings).toContainEqual(expect.stringContaining("estimates (≈)"));
});

it("a model call that a stopping host ends is booked by what it had streamed", async () => {
  const request: RunRequest = rootRequest({ run, budget: Budget.parse({ tokens: 50_000 }) });
  const streaming = Promise.withResolvers<void>();
  const before = createTestDeps({ agents, script: () => new Promise(() => {}), price });
  const call: typeof before.models.call = async (_request, { onProgress }) => {
    const usage = { inputTokens: 400, outputTokens: 1, cachedTokens: 0, costUsd: 0.0004 };
    onProgress?.({ usage, outputCharacters: 300 });
    streaming.resolve();
    return await new Promise(() => {});
  };
  const stopped = createActorHost({ deps: { ...before, models: { ...before.models, call } } });
  await stopped.start();
  void ask(before, request);
  await streaming.promise;
  await stopped.stop({ graceMs: 0 });
  const entries = await entriesOf(before, request);
  expect(entries.at(-1)).toMatchObject({ kind: "run.parked", lostUsage: { inputTokens: 400, outputTokens: 100 } });

  const after = createTestDeps({ agents, script: () => ({ text: "done" }), price, keep: before });
  const host = createActorHost({ deps: after });
  hosts.push(host);
  await host.start();
  const { metrics } = await ask(after, request);
  expect(metrics.estimated).toMatchObject({ tokens: 500 });
  expect(metrics.estimated?.costUsd).toBeGreaterThan(0.0004);
});

describe("a model call that a pause holds back", () => {
  it("is charged nothing", async () => {
    const request = rootRequest({ run, budget: Budget.parse({ tokens: 50_000 }) });
    const deps = createTestDeps({ agents: [{ id: "main" }], script: () => ({ text: "done" }) });
    const head = { v: 1 as const, at: 1, session: request.session, run, by: "ada" };
    await deps.journal.appendInbox({ ...head, kind: "run.paused" });
    const host = createActorHost({ deps });
    hosts.push(host);
    await host.start();
    const response = ask(deps, request);
    await entriesOnce(deps, request, endsWith("run.parked"));
    await sendCommand(deps, { ...head, kind: "run.resumed" });
    const { metrics } = await response;
    expect(metrics.charged.tokens).toBe(metrics.totalTokens);
  });
});
