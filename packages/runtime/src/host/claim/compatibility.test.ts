/** A run keeps its spec: a host that lacks a part of it leaves the run to another host. */
import { type HostDirectory, RunRequest } from "@troupe/core";
import type { HostView, RunSpec } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { createTestDeps, rootRequest, type TestDeps } from "../host-deps.test-helper.ts";
import { incompatibility } from "./compatibility.ts";
import { definitionHashOf, resolveRunSpec } from "./run-spec.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const request = rootRequest({ run });
const shared = RunRequest.parse({ ...request, workspace: { id: "w", path: "/w", place: "box", mode: "shared" } });

interface OtherHost {
  /** The recorded definition, or another of the same name. */
  definition: "recorded" | "another";
  alive?: boolean;
  draining?: boolean;
  place?: string;
  host?: string;
}

/** A host with everything in the spec of a run, except for the parts that the test removes. */
async function given(
  others: OtherHost[] | null,
  changes: Partial<TestDeps> = {},
): Promise<{ deps: TestDeps; spec: RunSpec }> {
  const deps = createTestDeps({
    agents: [{ id: "main", tools: ["echo"], description: "as it was" }],
    script: () => ({}),
  });
  const registry = await deps.agentSource.load(null);
  const spec = await resolveRunSpec(deps, request, registry);
  const [definition] = registry.agents;
  if (!definition) throw new Error("no agent");
  const list = (others ?? []).map(
    ({ definition: which, alive = true, draining = false, place = "box", host = "them" }) => {
      const hash = which === "recorded" ? definitionHashOf(definition) : "another";
      return { host, alive, draining, place, agents: [{ definition, hash }] } as unknown as HostView;
    },
  );
  const hosts = { list: () => list } as unknown as HostDirectory;
  return { deps: { ...deps, ...(others ? { hosts } : {}), ...changes }, spec };
}

const changed = createTestDeps({
  agents: [{ id: "main", description: "as it is now" }],
  script: () => ({}),
}).agentSource;
const otherAgents = createTestDeps({ agents: [{ id: "other" }], script: () => ({}) }).agentSource;

describe("a run that was opened elsewhere", () => {
  const recorded: OtherHost = { definition: "recorded" };
  test.for<{
    what: string;
    others: OtherHost[] | null;
    changes?: Partial<TestDeps>;
    of?: RunRequest;
    why: RegExp | null;
  }>([
    { what: "with everything it needs on this host", others: [recorded], why: null },
    {
      what: "whose model's provider is missing here",
      others: [],
      changes: { models: { ...createTestDeps({ agents: [], script: () => ({}) }).models, serves: () => false } },
      why: /no provider for the model test\/model/,
    },
    {
      what: "whose definition has changed here, and another host has it",
      others: [recorded],
      changes: { agentSource: changed },
      why: /this host has another definition of main/,
    },
    {
      what: "whose agent was removed here, and another host has it",
      others: [recorded],
      changes: { agentSource: otherAgents },
      why: /this host has no definition of main/,
    },
    {
      what: "whose definition no host has any more",
      others: [{ definition: "another" }],
      changes: { agentSource: changed },
      why: null,
    },
    {
      what: "whose definition only a dead host had",
      others: [{ ...recorded, alive: false }],
      changes: { agentSource: changed },
      why: null,
    },
    {
      what: "whose definition only a host that drains has",
      others: [{ ...recorded, draining: true }],
      changes: { agentSource: changed },
      why: null,
    },
    {
      what: "whose definition only this host has announced",
      others: [{ ...recorded, host: "test" }],
      changes: { agentSource: changed },
      why: null,
    },
    {
      what: "whose files are here, and its definition at another locality",
      others: [{ ...recorded, place: "far" }],
      changes: { agentSource: changed },
      of: shared,
      why: null,
    },
    {
      what: "whose files and definition are with another host of this locality",
      others: [recorded],
      changes: { agentSource: changed },
      of: shared,
      why: /another/,
    },
    {
      what: "in one process, after any change",
      others: null,
      changes: { agentSource: changed },
      why: null,
    },
  ])("$what", async ({ others, changes = {}, of = request, why }) => {
    const { deps, spec } = await given(others, changes);
    const found = await incompatibility(deps, of, spec, () => deps.agentSource.load(null));
    if (why === null) expect(found).toBeNull();
    else expect(found).toMatch(why);
  });

  test("with a tool that this host lacks is left to others, and the tool is logged", async () => {
    const { deps, spec } = await given([]);
    const [echo] = spec.tools;
    if (!echo) throw new Error("nothing recorded");
    const needs = { ...spec, tools: [echo, { ...echo, name: "mcp__jira__search" }, { ...echo, name: "delegate" }] };
    const why = await incompatibility(deps, request, needs, () => deps.agentSource.load(null));
    expect(why).toBe("this host lacks the tools mcp__jira__search");
  });
});
