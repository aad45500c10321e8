import { tightenBudget, unlimited } from "../../budget/ledger.ts";
import { listAgents } from "../../delegation/agent-list.ts";
import { delegationSpecs } from "../../delegation/spec.ts";
import { grantOf } from "../../permissions/grant.ts";
import { AgentDefinition, ContextMode } from "../../protocol/agent.ts";
import type { Budget, PartialBudget } from "../../protocol/budget.ts";
import type { DelegationTarget, RunSpec } from "../../protocol/entry.ts";
import { Limits, type PartialLimits, tighten } from "../../protocol/limits.ts";
import type { ModelPrice } from "../../protocol/model.ts";
import type { RunRequest } from "../../protocol/request.ts";
import { RunErrorType } from "../../protocol/run-error.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { Random } from "./random.test-helper.ts";

export type SimulatedAgents = readonly AgentDefinition[];

const tool = (name: string, effect: ToolSpec["effect"]): ToolSpec => {
  return { name, description: name, risk: "low", effect, groups: [], inputSchema: {} };
};
const tools = [tool("read", "read"), tool("shell", "unsafe")];

const prices: Readonly<Record<string, ModelPrice | null>> = {
  "sim/usual": { inputPerMillion: 3, outputPerMillion: 15 },
  "sim/dear": { inputPerMillion: 20, outputPerMillion: 90 },
  "sim/free": { inputPerMillion: 0, outputPerMillion: 0 },
  "sim/unknown": null,
};

/** Three or four agents. `main` may delegate to most of them, some to each other, and the last one to none. */
export function randomAgents(random: Random): SimulatedAgents {
  const ids = random.chance(50) ? ["main", "a", "b"] : ["main", "a", "b", "c"];
  return ids.map((id, place) => {
    const others = ids.filter((other) => other !== "main" && other !== id);
    const allow = id === "main" ? others : place === ids.length - 1 ? [] : others.filter(() => random.chance(80));
    return AgentDefinition.parse({
      id,
      name: id,
      description: id,
      prompt: `You are ${id}.`,
      source: { origin: "builtin", path: `${id}.md` },
      model: random.chance(80) ? "inherit" : random.of(Object.keys(prices)),
      subagents: {
        allow,
        execution: random.of(["parallel", "parallel_streaming", "parallel_streaming", "sequential"]),
        max_concurrent: 1 + random.below(4),
      },
      intent: random.chance(75) ? "direct" : random.of(["model", "patterns"]),
      limits: {
        ...randomLimits(random),
        ...(id === "main" ? { maxIterations: 2 + random.below(7), maxToolCalls: 12 } : {}),
      },
      budget: id === "main" || random.chance(70) ? {} : randomCap(random),
      retry: {
        maxAttempts: 1 + random.below(3),
        backoffMs: random.of([0, 500]),
        on: RunErrorType.options.filter(() => random.chance(50)),
        alternative: random.chance(20) ? random.of(others) : null,
      },
      contextMode: random.of(ContextMode.options),
      verifiers: randomChecks(random),
      childVerifiers: randomChecks(random),
    });
  });
}

function randomChecks(random: Random): { name: string }[] {
  return random.chance(80) ? [] : [{ name: "exists" }];
}

/** `main` and two agents that delegate to none, so that their maximum usage is easy to compute. */
export const flatAgents: SimulatedAgents = ["main", "a", "b"].map((id) =>
  AgentDefinition.parse({
    id,
    name: id,
    description: id,
    prompt: `You are ${id}.`,
    source: { origin: "builtin", path: `${id}.md` },
    subagents: { allow: id === "main" ? ["a", "b"] : [], max_concurrent: 2 },
    limits: { maxIterations: 5, maxToolCalls: 9, maxOutputTokens: 300, maxChildren: 6 },
    retry: { maxAttempts: 2, backoffMs: 0, on: RunErrorType.options },
  }),
);

/** The same agents with small context limits, so that their conversations are soon trimmed and compacted. */
export const smallContextAgents: SimulatedAgents = flatAgents.map((agent) => ({
  ...agent,
  limits: {
    ...agent.limits,
    maxIterations: 15,
    maxToolCalls: 60,
    maxContextTokens: agent.id === "main" ? 4_500 : 2_500,
  },
}));

function randomLimits(random: Random): PartialLimits {
  return {
    maxIterations: random.of([1, 2, 4, 5]),
    maxToolCalls: random.of([1, 3, 6, 9]),
    maxOutputTokens: random.of([64, 300, 1_500]),
    maxDurationMs: random.of([30_000, 300_000]),
    maxParallelTools: 1 + random.below(3),
    ...(random.chance(10) ? { maxTokens: 2_000 + random.below(9_000) } : {}),
    ...(random.chance(10) ? { maxCostUsd: 0.01 + random.below(90) / 1_000 } : {}),
    // Enough turns to fill the context, so that it is trimmed and compacted.
    ...(random.chance(40) ? { maxContextTokens: 2_000 + random.below(3_000), maxIterations: 9, maxToolCalls: 20 } : {}),
  };
}

function randomCap(random: Random): PartialBudget {
  return {
    tokens: 2_000 + random.below(20_000),
    ...(random.chance(30) ? { costUsd: 0.01 + random.below(90) / 1_000 } : {}),
    ...(random.chance(30) ? { toolCalls: random.below(4) } : {}),
    ...(random.chance(30) ? { spawns: random.below(4) } : {}),
  };
}

/** The run configuration that a host resolves when it opens a run, without I/O. */
export function simulatedSpec(request: RunRequest, registry: SimulatedAgents): RunSpec {
  const definition = registry.find(({ id }) => id === request.agent);
  if (!definition) throw new Error(`no agent ${request.agent}`); // the machine has checked it
  const grant = grantOf(request.layers, definition, { tools, agents: registry });
  const targets = registry.filter(({ id }) => grant.agents.includes(id)).map(targetOf);
  const { execution, max_concurrent } = definition.subagents;
  const model = definition.model === "inherit" ? request.model : definition.model;
  const own = tighten(Limits.parse(definition.limits), {
    maxConcurrent: execution === "sequential" ? 1 : max_concurrent,
  });
  return {
    protocol: 1,
    definition,
    definitionHash: "",
    prompt: definition.prompt,
    tools: targets.length > 0 ? [...tools, ...delegationSpecs(listAgents(targets), "ids")] : tools,
    targets,
    model,
    temperature: null,
    price: prices[model] ?? null,
    contextTokens: null,
    history: [],
    grant,
    limits: tighten(own, request.limits),
    budget: tightenBudget(request.budget, definition.budget),
    booksLostCalls: true,
    marksLastTurn: true,
    makesRoom: true,
    readsTextOnce: true,
    answersByDomain: definition.domain !== null,
  };
}

function targetOf(definition: AgentDefinition): DelegationTarget {
  const { id, description, retry, contextMode, promptFrom, domain } = definition;
  return { id, description, retry, contextMode, promptFrom, domain, budget: maxUsageOf(definition) };
}

/** For an agent that may delegate, only its own budget is a maximum: it also uses the usage of its children. */
function maxUsageOf({ budget, limits, subagents }: AgentDefinition): Budget {
  if (subagents.allow.length > 0) return tightenBudget(unlimited, budget);
  const { maxTokens, maxCostUsd, maxToolCalls } = Limits.parse(limits);
  return tightenBudget({ tokens: maxTokens, costUsd: maxCostUsd, toolCalls: maxToolCalls, spawns: 0 }, budget);
}
