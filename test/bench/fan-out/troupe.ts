/** The same workload by troupe: journal and recorder on, each call through a vendor's SDK. */
import { AgentDefinition, type AgentRegistry, type ModelProvider } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createProvider, createReliableProvider, ProviderLimits, type ProviderSettings } from "@troupe/models";
import { type BenchHome, openBenchHome } from "../bench-home.ts";
import type { WireName } from "./bare.ts";
import { lookupTool } from "./lookup.ts";

const many = 20_000;
const words = "Work carefully and report what you found. ".repeat(12);

// A sub-agent's grant is at most its parent's.
const main = agent("main", ["worker"], { tools: ["lookup"], subagents: { allow: ["worker"], max_concurrent: many } });
const worker = agent("worker", [], { tools: ["lookup"] });
const registry: AgentRegistry = {
  agents: [main, worker],
  problems: [],
  find: (id) => [main, worker].find((definition) => definition.id === id),
  renderPrompt: ({ prompt }) => prompt,
};

export function openTroupe(wire: WireName, url: string, capacity: number): Promise<BenchHome> {
  return openBenchHome({ models: providerOf(wire, url), tools: [lookupTool], capacity, registry });
}

function providerOf(wire: WireName, url: string): ModelProvider {
  const settings: ProviderSettings = {
    id: "bench",
    wire,
    baseUrl: wire === "anthropic" ? url : `${url}/v1`,
    key: "bench",
    authToken: null,
    keyVariable: null,
    headers: {},
    limits: ProviderLimits.parse({}),
    models: {},
    isLocal: false,
  };
  const prices = { priceOf: () => null, costOf: () => null, contextOf: () => null };
  const provider = createProvider({ settings, prices, clock: systemClock() });
  return createReliableProvider({ provider, limits: settings.limits, clock: systemClock(), random: Math.random });
}

function agent(id: string, targets: readonly string[], changes: object): AgentDefinition {
  return AgentDefinition.parse({
    id,
    name: id,
    description: `The ${id} of the benchmark.`,
    prompt: `You are the ${id}. ${words}`,
    tools: [],
    source: { origin: "builtin", path: `${id}.md` },
    limits: { maxConcurrent: many, maxChildren: many, maxToolCalls: many, maxOutputTokens: 200_000 },
    subagents: { allow: targets, max_concurrent: many },
    ...changes,
  });
}
