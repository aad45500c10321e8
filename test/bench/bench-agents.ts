import {
  AgentDefinition,
  type AgentRegistry,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
} from "@troupe/core";

/** Higher than any benchmark needs: the figures show the cost of many runs, not the effect of limits. */
const many = 20_000;
const liftedLimits = {
  maxConcurrent: many,
  maxChildren: many,
  maxToolCalls: many,
  maxOutputTokens: 200_000,
  maxIterations: 1_000,
  maxDurationMs: 3_600_000,
};
const words = "Work carefully and report what you found. ".repeat(12);

/** main delegates to leads and workers, leads delegate to workers, and workers do not delegate. */
const definitions = [
  agent("main", { subagents: { allow: ["lead", "worker"], max_concurrent: many }, limits: liftedLimits }),
  agent("lead", { subagents: { allow: ["worker"], max_concurrent: many }, limits: liftedLimits }),
  agent("worker", { limits: { maxIterations: 1_000, maxToolCalls: many, maxDurationMs: 3_600_000 } }),
];

export const benchAgents: AgentRegistry = {
  agents: definitions,
  problems: [],
  find: (id) => definitions.find((definition) => definition.id === id),
  renderPrompt: (definition) => definition.prompt,
};

/** So many single calls in one turn, as an eager model makes them. */
export function delegations(count: number): ModelReply["calls"] {
  return taskList(count, "worker").map((task, i) => ({ id: `call-${i}`, name: "delegate", args: task, problem: null }));
}

/** One call for so many at once. */
export function batch(count: number, agent = "worker"): ModelReply["calls"] {
  return [{ id: "batch", name: "delegate", args: { tasks: taskList(count, agent), mode: "parallel" }, problem: null }];
}

/** A model that is what the function says: latency, calls, words. */
export function answeringModel(
  answer: (origin: ModelRequest["origin"], signal: AbortSignal) => Promise<Partial<ModelReply>>,
): ModelProvider {
  return {
    id: "bench",
    priceOf: async () => ({ inputPerMillion: 0, outputPerMillion: 0 }),
    async call({ origin }, { signal }) {
      const reply = await answer(origin, signal);
      return {
        text: "Found the requested text; nothing unexpected.",
        calls: [],
        usage: { inputTokens: 200, outputTokens: 20, cachedTokens: 0, costUsd: 0 },
        stopReason: reply.calls ? "tool_calls" : "end",
        model: "bench/model",
        ...reply,
      };
    },
  };
}

function taskList(count: number, agent: string): { agent: string; task: string }[] {
  return Array.from({ length: count }, (_, i) => ({
    agent,
    task: `Look into part ${i} and say in one sentence what you found.`,
  }));
}

function agent(id: string, changes: object = {}): AgentDefinition {
  return AgentDefinition.parse({
    id,
    name: id,
    description: `The ${id} of the benchmark.`,
    prompt: `You are the ${id}. ${words}`,
    source: { origin: "builtin", path: `${id}.md` },
    ...changes,
  });
}
