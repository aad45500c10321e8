import type { Budget, RunResponse } from "@troupe/core";
import { afterEach, describe, expect, it } from "vitest";
import type { SpawnOptions, TeamOptions } from "./options.ts";
import { done, startTeam, stopTeams } from "./team.test-helper.ts";

afterEach(stopTeams);

describe("a team's budget", () => {
  const budgets = async (started: Awaited<ReturnType<typeof startTeam>>, responses: readonly RunResponse[]) => {
    const opened = responses.map(({ runId, sessionId }) => started.opened({ run: runId, session: sessionId }));
    return (await Promise.all(opened)).map(({ request }) => request.budget);
  };
  const three = ["1", "2", "3"].map((task) => ({ agent: "a", task }));

  it("is divided among the tasks, and an unused part goes to the next", async () => {
    const started = await startTeam(done, { budget: { tokens: 30_000, toolCalls: 9 } });
    const responses = await started.team.fanOut(three, { maxConcurrent: 1 });
    // Each call of the test's model takes 15 tokens, and no tool.
    expect(await budgets(started, responses)).toMatchObject([
      { tokens: 10_000, toolCalls: 3 },
      { tokens: 14_992, toolCalls: 4 },
      { tokens: 29_970, toolCalls: 9 },
    ]);
  });

  it("is also divided among tasks that were spawned one by one", async () => {
    const started = await startTeam(done, { budget: { tokens: 30_000 } });
    const spawned = three.map(({ agent, task }) => started.team.spawn(agent, task));
    const responses = await Promise.all(spawned.map(({ response }) => response));
    const given = await budgets(started, responses);
    expect(given).toHaveLength(three.length);
    for (const { tokens } of given) expect(tokens).toBeGreaterThanOrEqual(10_000);
  });

  it("gives a task less if its options say so", async () => {
    const started = await startTeam(done, { budget: { tokens: 30_000 } });
    const response = await started.team.spawn("a", "x", { budget: { tokens: 5_000 } }).response;
    expect(await budgets(started, [response])).toMatchObject([{ tokens: 5_000 }]);
  });

  it.each<[string, SpawnOptions, Partial<Budget>]>([
    ["a", { maxToolCalls: 3 }, { toolCalls: 3, spawns: 0 }],
    ["lead", {}, { toolCalls: 100, spawns: 0 }],
    ["lead", { delegates: true }, { toolCalls: 900, spawns: 200 }],
    ["lead", { delegates: true, maxToolCalls: 3 }, { toolCalls: 900, spawns: 200 }],
    ["lead", { delegates: true, budget: { spawns: 4 } }, { toolCalls: 900, spawns: 4 }],
  ])("reserves for %s with %j at most its cap", async (agent, options, expected) => {
    const started = await startTeam(done, { budget: { toolCalls: 900 } });
    const response = await started.team.spawn(agent, "x", options).response;
    expect(await budgets(started, [response])).toMatchObject([expected]);
  });

  it.each<[string, TeamOptions["budget"], SpawnOptions["budget"], number]>([
    ["its team", { spawns: 500 }, undefined, 499],
    ["the task", undefined, { spawns: 300 }, 300],
    ["both, and the lower holds", { spawns: 500 }, { spawns: 300 }, 300],
    ["both, and the team's rest is lower", { spawns: 250 }, { spawns: 300 }, 249],
    ["neither", undefined, undefined, 200],
  ])("lets a task start more than the default of 200 runs if %s says so", async (_who, ofTeam, ofTask, spawns) => {
    const started = await startTeam(done, ofTeam ? { budget: ofTeam } : {});
    const options = { delegates: true, ...(ofTask ? { budget: ofTask } : {}) };
    const response = await started.team.spawn("lead", "x", options).response;
    expect(await budgets(started, [response])).toMatchObject([{ spawns }]);
  });

  it("rejects only the task for which no budget is left", async () => {
    const { team } = await startTeam(done, { budget: { spawns: 2 } });
    const responses = await team.fanOut(three);
    expect(responses.map(({ status }) => status).sort()).toEqual(["completed", "completed", "rejected"]);
    const rejected = responses.find(({ status }) => status === "rejected");
    expect(rejected?.error).toMatchObject({
      type: "budget",
      message: expect.stringContaining("the team's budget is used up"),
    });
  });

  it("loses nothing to tasks that never started", async () => {
    const { team } = await startTeam(done, { budget: { spawns: 1 } });
    await team.spawn("nobody", "x").response;
    await team.spawn("a", "x", { signal: AbortSignal.abort() }).response;
    expect(await team.spawn("a", "x").response).toMatchObject({ status: "completed" });
  });
});
