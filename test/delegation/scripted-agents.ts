import {
  AgentDefinition,
  type AgentRegistry,
  type AgentSource,
  type Clock,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  RunFailure,
  type ToolCall,
} from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";
import { createScriptedProvider, Scenario } from "@troupe/models";
import type { z } from "zod";
import type { TeamOptions } from "./team.ts";

/** The parts of an agent that a test sets; defaults fill the rest. */
export type TeamAgent = Partial<z.input<typeof AgentDefinition>> & { id: string };

/** Output of a scripted model: text alone, or parts of a reply. */
export type ModelOutput = string | Partial<ModelReply>;

/** The model of all agents. `question.origin` names the calling agent. */
export type Answer = (question: ModelRequest, signal: AbortSignal) => Promise<ModelOutput> | ModelOutput;

export type ScenarioAgents = z.input<typeof Scenario>["agents"];

/** The agents of a test, with no word added to their prompts. */
export function agentSourceOf(agents: readonly TeamAgent[]): AgentSource {
  const definitions = agents.map((agent) =>
    AgentDefinition.parse({
      name: agent.id,
      description: `does ${agent.id}`,
      prompt: `You are ${agent.id}.`,
      source: { origin: "project", path: `${agent.id}.md` },
      ...agent,
    }),
  );
  definitions.sort((a, b) => (a.id < b.id ? -1 : 1));
  const registry: AgentRegistry = {
    agents: definitions,
    problems: [],
    find: (id) => definitions.find((agent) => agent.id === id),
    renderPrompt: (definition) => definition.prompt,
  };
  return { load: async () => registry };
}

/** A scripted model that records its requests. */
export function modelOf(options: TeamOptions, clock: Clock, asked: ModelRequest[]): ModelProvider {
  const provider = options.scenario ? scripted(options.scenario, options.price, clock) : answering(options);
  return {
    ...provider,
    call(question, callOptions) {
      asked.push(question);
      return provider.call(question, callOptions);
    },
  };
}

const free: ModelPrice = { inputPerMillion: 0, outputPerMillion: 0 };

function answering({ answer = () => "done", price = free }: TeamOptions): ModelProvider {
  return {
    id: "test",
    priceOf: async () => price,
    async call(question, { signal }) {
      const output = await answer(question, signal);
      const reply = typeof output === "string" ? { text: output } : output;
      const isCalling = (reply.calls ?? []).length > 0;
      return {
        text: "",
        calls: [],
        usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 0, costUsd: 0 },
        stopReason: isCalling ? "tool_calls" : "end",
        model: "test/model",
        ...reply,
      };
    },
  };
}

function scripted(agents: ScenarioAgents, price: ModelPrice | null = free, clock: Clock): ModelProvider {
  const parsed = Scenario.parse({ name: "test", description: "of a test", price, agents });
  return createScriptedProvider({ load: async () => parsed, clock });
}

/** One tool call, as a model makes it. */
export function call(name: string, args: unknown = {}, id = `call-${name}`): ToolCall {
  return { id, name, args: args as ToolCall["args"], problem: null };
}

let delegations = 0;

/** A call that gives one task to one agent. */
export function delegate(agent: string, task: string, more: object = {}): ToolCall {
  delegations += 1;
  return call("delegate", { agent, task, ...more }, `delegation-${delegations}`);
}

export function calling(...calls: ToolCall[]): Partial<ModelReply> {
  return { calls };
}

/** Tool results since the model's last reply. */
export function toolResultsIn({ messages }: Pick<ModelRequest, "messages">) {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  return messages.slice(last + 1).flatMap((message) => (message.role === "tool" ? [message] : []));
}

/** A vendor that fails for a moment; with the network gone, as often as it may be asked for one turn. */
export function failure(type: "network" | "rate_limit" | "model", retryAfterMs: number | null = null): RunFailure {
  const tries = type === "network" ? 5 : 1;
  return new RunFailure({ type, message: `the vendor says: ${type}`, recoverable: true, retryAfterMs, tries });
}
