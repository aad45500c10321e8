import {
  AgentDefinition,
  type Company,
  createSubjects,
  decode,
  encode,
  type Journal,
  type ModelProvider,
  type ModelReply,
  RunRequest,
  type RunResponse,
  SettledMessage,
} from "@troupe/core";
import { createMemoryBus, createMemoryTaskQueue } from "@troupe/core/memory";
import {
  builtinVerifiers,
  createToolHost,
  noProbe,
  readTool,
  shellTool,
  silentLogger,
  systemClock,
  systemIds,
  type World,
  writeTool,
} from "@troupe/runtime";

const ids = systemIds();

/** A world with a real journal and real tools, whose model is the function given. */
export function benchWorld(
  journal: Journal,
  answer: (agent: string, step: number) => Promise<Partial<ModelReply>>,
): World {
  return {
    journal,
    queue: createMemoryTaskQueue(),
    bus: createMemoryBus(),
    subjects: createSubjects(),
    models: instantModel(answer),
    tools: createToolHost({ tools: [readTool, writeTool, shellTool] }),
    companies: { load: async () => benchCompany },
    verifiers: builtinVerifiers,
    clock: systemClock(),
    logger: silentLogger,
    probe: noProbe,
    hostId: "bench",
  };
}

/** Offers a root run and resolves with its one response. */
export async function ask(world: World, task: string): Promise<RunResponse> {
  const request = rootRequest(task);
  const answer = Promise.withResolvers<RunResponse>();
  const subscription = await world.bus.subscribe(world.subjects.settled(request.run), ({ bytes }) => {
    const { response } = decode(SettledMessage, bytes, "settled message");
    if (response) answer.resolve(response);
  });
  await world.queue.offer({ run: request.run, agent: request.agent, place: "any", bytes: encode(request) });
  const response = await answer.promise;
  subscription.unsubscribe();
  return response;
}

export function delegations(count: number): ModelReply["calls"] {
  return Array.from({ length: count }, (_, i) => ({
    id: `call-${i}`,
    name: "delegate",
    args: { agent: "worker", task: `Look into part ${i} and say in one sentence what you found.` },
    problem: null,
  }));
}

function rootRequest(task: string): RunRequest {
  return RunRequest.parse({
    v: 1,
    session: ids.next(),
    run: ids.next(),
    parent: null,
    agent: "main",
    depth: 0,
    attempt: 1,
    task,
    chain: [],
    layers: [],
    limits: {},
    model: "bench/instant",
    workspace: { id: "bench", path: "/nonexistent" },
  });
}

function agent(id: string, changes: object = {}): AgentDefinition {
  return AgentDefinition.parse({
    id,
    name: id,
    description: `The ${id} of the benchmark.`,
    prompt: `You are the ${id}. ${"Work carefully and report what you found. ".repeat(12)}`,
    source: { origin: "builtin", path: `${id}.md` },
    ...changes,
  });
}

const definitions = [
  agent("main", {
    subagents: { allow: ["worker"], max_concurrent: 10_000 },
    limits: { maxConcurrent: 10_000, maxToolCalls: 10_000 },
  }),
  agent("worker"),
];

const benchCompany: Company = {
  agents: definitions,
  problems: [],
  find: (id) => definitions.find((definition) => definition.id === id),
  renderPrompt: (definition) => definition.prompt,
};

function instantModel(answer: (agent: string, step: number) => Promise<Partial<ModelReply>>): ModelProvider {
  return {
    id: "bench",
    priceOf: async () => ({ inputPerMillion: 0, outputPerMillion: 0 }),
    async call({ origin }) {
      const reply = await answer(origin.agent, origin.step);
      return {
        text: "Found what was asked for; nothing unexpected.",
        calls: [],
        usage: { inputTokens: 200, outputTokens: 20, cachedTokens: 0, costUsd: 0 },
        stopReason: reply.calls ? "tool_calls" : "end",
        model: "bench/instant",
        ...reply,
      };
    },
  };
}
