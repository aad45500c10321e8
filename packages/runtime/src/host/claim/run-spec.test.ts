/** The spec of a run is resolved once, from its request, its definition and its machine. */
import { GrantLayer } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { createTestDeps, rootRequest, type TestAgent } from "../host-deps.test-helper.ts";
import type { AgentHints } from "../host-deps.ts";
import { resolveRunSpec } from "./run-spec.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const layer = {
  from: "session",
  kind: "session" as const,
  tools: null,
  denyTools: [],
  agents: null,
  denyAgents: [],
  writes: null,
};

async function resolved(
  agents: TestAgent[],
  request: Partial<Parameters<typeof rootRequest>[0]> = {},
  price: Parameters<typeof createTestDeps>[0]["price"] = { inputPerMillion: 1, outputPerMillion: 2 },
) {
  const deps = createTestDeps({ agents, script: () => ({}), price });
  return await resolveRunSpec(deps, rootRequest({ run, ...request }), await deps.agentSource.load(null));
}

const main = { id: "main", subagents: { allow: ["helper", "tester"] } };

test("every new run can compact its conversation", async () => {
  expect(await resolved([main])).toMatchObject({ makesRoom: true });
});

test("the prompt is rendered from the definition, the request and the limits and targets of the run", async () => {
  const deps = createTestDeps({ agents: [main, { id: "helper" }], script: () => ({}) });
  const registry = await deps.agentSource.load(null);
  const request = rootRequest({ run, budget: { tokens: 9, costUsd: null, toolCalls: null, spawns: null } });
  const rendered: unknown[] = [];
  const spec = await resolveRunSpec(deps, request, {
    ...registry,
    renderPrompt: (...from) => {
      rendered.push(...from);
      return "the rendered prompt";
    },
  });
  expect(spec.prompt).toBe("the rendered prompt");
  expect(rendered).toEqual([
    registry.find("main"),
    request,
    {
      limits: spec.limits,
      budget: spec.budget,
      targets: ["helper"],
      agentList: { text: "- helper: does helper", ids: ["helper"], isShortened: false },
      tools: ["echo", "danger", "deploy"].map((name) => expect.objectContaining({ name })),
      now: expect.any(Number),
    },
  ]);
});

describe("the grant", () => {
  test("is the intersection of every layer and the definition", async () => {
    const spec = await resolved([{ ...main, tools: ["echo", "danger"] }, { id: "helper" }, { id: "tester" }], {
      layers: [{ ...layer, denyTools: ["danger"], denyAgents: ["tester"], writes: null }],
    });
    expect(spec.grant).toEqual({ tools: ["echo"], agents: ["helper"], writes: [] });
    expect(spec.tools.map(({ name }) => name)).toEqual(["echo", "delegate", "delegate_batch", "delegate_cancel"]);
    expect(spec.targets.map(({ id }) => id)).toEqual(["helper"]);
  });

  test("has no disabled agent, and no delegation without agents", async () => {
    const spec = await resolved([main, { id: "helper", disabled: true }]);
    expect(spec.grant.agents).toEqual([]);
    expect(spec.tools.map(({ name }) => name)).not.toContain("delegate");
  });
});

describe("the list of agents", () => {
  const team = [main, { id: "helper" }, { id: "tester" }];
  const specIn = async (agentListTokens?: number, prompt?: string) => {
    const deps = {
      ...createTestDeps({ agents: team, script: () => ({}) }),
      ...(agentListTokens === undefined ? {} : { agentListTokens }),
    };
    const registry = await deps.agentSource.load(null);
    const renderPrompt: typeof registry.renderPrompt = (_, __, { agentList }) => prompt ?? `Ask:\n${agentList?.text}`;
    return await resolveRunSpec(deps, rootRequest({ run }), { ...registry, renderPrompt });
  };
  const timesListed = ({ prompt, tools }: Awaited<ReturnType<typeof specIn>>): number =>
    (prompt + JSON.stringify(tools)).split("does helper").length - 1;

  test("is read once: in the prompt, or in the tool if the prompt does not have it", async () => {
    expect(timesListed(await specIn())).toBe(1);
    const own = await specIn(undefined, "You are main.");
    expect(timesListed(own)).toBe(1);
    expect(own.tools.find(({ name }) => name === "delegate")?.description).toContain("- helper: does helper");
  });

  test("over its budget has names only, and a search; all targets stay in the spec", async () => {
    const spec = await specIn(4);
    expect(timesListed(spec)).toBe(0);
    expect(spec.prompt).toBe("Ask:\nhelper, tester");
    expect(spec.tools.map(({ name }) => name)).toContain("find_agent");
    expect(spec.targets.map(({ id, description }) => [id, description])).toEqual([
      ["helper", "does helper"],
      ["tester", "does tester"],
    ]);
  });
});

describe("a hint about earlier runs", () => {
  const specWith = async (agentHints?: AgentHints) => {
    const deps = {
      ...createTestDeps({ agents: [main, { id: "helper" }, { id: "tester" }], script: () => ({}) }),
      ...(agentHints ? { agentHints } : {}),
    };
    const registry = await deps.agentSource.load(null);
    const renderPrompt: typeof registry.renderPrompt = (_, __, { agentList }) => `Ask:\n${agentList?.text}`;
    return await resolveRunSpec(deps, rootRequest({ run }), { ...registry, renderPrompt });
  };

  test("is pinned in the spec, and read in the prompt", async () => {
    const spec = await specWith({
      hintFor: ({ parent, agent }) => (agent === "helper" ? `of ${agent} under ${parent}` : undefined),
    });
    expect(spec.prompt).toBe("Ask:\n- helper: does helper (of helper under main)\n- tester: does tester");
    expect(spec.targets.map(({ id, hint }) => [id, hint])).toEqual([
      ["helper", "of helper under main"],
      ["tester", undefined],
    ]);
  });

  test("is absent on a host that has none", async () => {
    const spec = await specWith();
    expect(spec.prompt).toBe("Ask:\n- helper: does helper\n- tester: does tester");
    for (const target of spec.targets) expect(target).not.toHaveProperty("hint");
  });
});

describe("the machine that opens a run", () => {
  const taken = GrantLayer.parse({ from: "policy", kind: "policy", denyTools: ["deploy"] });
  const onMachine = async (policyLayer: GrantLayer) => {
    const deps = { ...createTestDeps({ agents: [main], script: () => ({}) }), policyLayer, hostId: "worker-1" };
    return await resolveRunSpec(deps, rootRequest({ run, layers: [taken] }), await deps.agentSource.load(null));
  };

  test("allows no more than its own policy, which is stored under its name", async () => {
    const spec = await onMachine({ ...taken, tools: ["deploy"], denyTools: [] });
    // The session allows the one, and the machine the other.
    expect(spec.grant.tools).toEqual([]);
    expect(spec.tools).toEqual([]);
    expect(spec.machine).toEqual({ ...taken, tools: ["deploy"], denyTools: [], from: "worker-1" });
  });

  test("adds no layer if the session's first layer is the same", async () => {
    const spec = await onMachine(taken);
    expect(spec.grant.tools).not.toContain("deploy");
    expect(spec).not.toHaveProperty("machine");
  });
});

describe("a target", () => {
  test("has all settings of its future child", async () => {
    const helper = {
      id: "helper",
      contextMode: "full" as const,
      promptFrom: "parent" as const,
      retry: { maxAttempts: 3, backoffMs: 5, on: ["model" as const], alternative: "tester" },
    };
    const { targets } = await resolved([main, helper, { id: "tester" }]);
    expect(targets[0]).toMatchObject({ ...helper, description: "does helper", domain: null });
  });

  test("that is an expert of one domain gets one message, with any settings of its file", async () => {
    const { targets } = await resolved([main, { id: "helper", domain: "mail", contextMode: "full" }]);
    expect(targets[0]).toMatchObject({ domain: "mail", contextMode: "task_only" });
  });

  const none = { tokens: null, costUsd: null, toolCalls: null, spawns: null };
  test.for<{ what: string; helper: TestAgent; budget: object }>([
    { what: "a leaf uses as much as its caps allow", helper: {}, budget: { ...none, toolCalls: 100, spawns: 0 } },
    {
      what: "a leaf with a budget uses the less of both",
      helper: {
        limits: { maxTokens: 500, maxToolCalls: 7, maxCostUsd: 2 },
        budget: { tokens: 900, toolCalls: 3, costUsd: 1, spawns: 9 },
      },
      budget: { tokens: 500, toolCalls: 3, costUsd: 1, spawns: 0 },
    },
    {
      what: "an expert of one domain is a leaf",
      helper: { domain: "mail", subagents: { allow: ["tester"] } },
      budget: { ...none, toolCalls: 100, spawns: 0 },
    },
    {
      what: "the caps of an agent that delegates do not count",
      helper: { subagents: { allow: ["tester"] }, limits: { maxTokens: 500 } },
      budget: none,
    },
    {
      what: "the budget of an agent that delegates counts",
      helper: { subagents: { allow: ["tester"] }, limits: { maxTokens: 500 }, budget: { tokens: 900, spawns: 4 } },
      budget: { ...none, tokens: 900, spawns: 4 },
    },
  ])("$what", async ({ helper, budget }) => {
    const { targets } = await resolved([main, { id: "helper", ...helper }, { id: "tester" }]);
    expect(targets[0]?.budget).toEqual(budget);
  });
});

describe("the limits", () => {
  const allow = ["helper"];
  test.for<{ what: string; agent: TestAgent; request?: object; limits: object }>([
    { what: "have defaults", agent: {}, limits: { maxConcurrent: 5, maxDepth: 3 } },
    {
      what: "include max_concurrent of the file",
      agent: { subagents: { allow, max_concurrent: 2 } },
      limits: { maxConcurrent: 2 },
    },
    {
      what: "allow one child at a time for an agent that delegates sequentially",
      agent: { subagents: { allow, execution: "sequential", max_concurrent: 4 } },
      limits: { maxConcurrent: 1 },
    },
    {
      what: "are those of the file, which can lower a default and raise it",
      agent: { limits: { maxDepth: 7, maxIterations: 4 } },
      limits: { maxDepth: 7, maxIterations: 4 },
    },
    {
      what: "are lowered by the request",
      agent: { limits: { maxDepth: 7, maxIterations: 4 } },
      request: { limits: { maxDepth: 2, maxIterations: 3 } },
      limits: { maxDepth: 2, maxIterations: 3 },
    },
    {
      what: "are not raised by the request",
      agent: { subagents: { allow, max_concurrent: 2 }, limits: { maxDepth: 2 } },
      request: { limits: { maxDepth: 9, maxConcurrent: 9 } },
      limits: { maxDepth: 2, maxConcurrent: 2 },
    },
  ])("$what", async ({ agent, request, limits }) => {
    expect((await resolved([{ ...main, ...agent }, { id: "helper" }], request)).limits).toMatchObject(limits);
  });
});

describe("the targets", () => {
  const agents = [main, { id: "helper" }, { id: "tester" }];

  test("leave out the agents above the run", async () => {
    const { targets, tools } = await resolved(agents, { chain: ["tester"], depth: 1 });
    expect(targets.map(({ id }) => id)).toEqual(["helper"]);
    expect(tools.map(({ name }) => name)).toContain("delegate");
    expect((await resolved(agents, { chain: ["tester", "helper"], depth: 2 })).targets).toEqual([]);
  });

  test("are none for a run at the depth limit", async () => {
    expect((await resolved(agents, { depth: 2 })).targets).toHaveLength(2);
    const deepest = await resolved(agents, { depth: 3 });
    expect(deepest.targets).toEqual([]);
    expect(deepest.tools.map(({ name }) => name)).not.toContain("delegate");
  });
});

test("the budget is the request's, tightened by the definition's", async () => {
  const budget = { tokens: 1_000, costUsd: null, toolCalls: 5, spawns: null };
  const spec = await resolved([{ ...main, budget: { tokens: 2_000, costUsd: 3, toolCalls: 2 } }], { budget });
  expect(spec.budget).toEqual({ tokens: 1_000, costUsd: 3, toolCalls: 2, spawns: null });
});

describe("the model", () => {
  test.for<{ what: string; agent: TestAgent; request: object; spec: object }>([
    {
      what: "is the request's for an agent that inherits it",
      agent: {},
      request: { model: "test/one", temperature: 0.7 },
      spec: { model: "test/one", temperature: 0.7 },
    },
    {
      what: "is the definition's if it has one",
      agent: { model: "test/two", temperature: 0 },
      request: { model: "test/one", temperature: 0.7 },
      spec: { model: "test/two", temperature: 0 },
    },
    { what: "has its own temperature if none is set", agent: {}, request: {}, spec: { temperature: null } },
  ])("$what", async ({ agent, request, spec }) => {
    expect(await resolved([{ ...main, ...agent }], request)).toMatchObject(spec);
  });

  test("keeps its price, and an unknown price stays unknown", async () => {
    expect((await resolved([main])).price).toEqual({ inputPerMillion: 1, outputPerMillion: 2 });
    expect((await resolved([main], {}, null)).price).toBeNull();
  });
});

test("the workspace of a target is that of its file; an agent of other hosts works in an isolated folder", async () => {
  const remote = { source: { origin: "remote" as const, path: "lab" } };
  const spec = await resolved([
    { id: "main", subagents: { allow: ["a", "b", "c", "d"] } },
    { id: "a" },
    { id: "b", workspace: "worktree" },
    { id: "c", ...remote },
    { id: "d", ...remote, workspace: "shared" },
  ]);
  expect(spec.targets.map(({ workspace }) => workspace)).toEqual([undefined, "worktree", "isolated", undefined]);
});
