import {
  type AgentRegistry,
  AgentDefinition as AgentSchema,
  createSubjects,
  type Entry,
  type EntryBody,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  RunFailure,
  RunRequest,
  type RunResponse,
  silentLogger,
  type ToolCall,
  type ToolHost,
  ToolOutcome,
  type ToolSpec,
} from "@troupe/core";
import { decode, encode, type ModelPrice, openEntry, SettledMessage } from "@troupe/core/internal";
import { createCountingIds, createMemoryBus, createMemoryJournal, createMemoryTaskQueue } from "@troupe/core/memory";
import type { z } from "zod";
import { builtinVerifiers } from "../verifiers/verifier.ts";
import { noFailpoints } from "./failpoints.ts";
import type { HostDeps } from "./host-deps.ts";
import { sealEntries } from "./run/seal-entries.ts";

export type Script = (request: ModelRequest, signal: AbortSignal) => Promise<Partial<ModelReply>> | Partial<ModelReply>;

/** The fields of an agent that matter to a test; the rest has defaults. */
export type TestAgent = Partial<z.input<typeof AgentSchema>>;

export interface TestDeps extends HostDeps {
  /** `agent/attempt/step` of every model call, in order. */
  modelCalls: string[];
  /** `run/step/call` of every tool call that was really run. */
  toolCalls: string[];
}

/**
 * Ports in memory: a scripted model, tools that echo (one of them only after an approval), and the agents of the test.
 */
export function createTestDeps(options: {
  agents: TestAgent[];
  script: Script;
  tools?: Partial<ToolHost> & { specs?: () => readonly ToolSpec[] };
  /** The price of the model. @default nothing */
  price?: ModelPrice | null;
  keep?: Pick<HostDeps, "journal">;
}): TestDeps {
  const modelCalls: string[] = [];
  const toolCalls: string[] = [];
  return {
    journal: options.keep?.journal ?? createMemoryJournal(),
    queue: createMemoryTaskQueue(),
    bus: createMemoryBus(),
    subjects: createSubjects(),
    models: scriptedModels(options.script, modelCalls, options.price),
    tools: echoTools(toolCalls, options.tools),
    agentSource: { load: async () => registryOf(options.agents) },
    verifiers: builtinVerifiers,
    clock: realClock,
    logger: silentLogger,
    failpoint: noFailpoints,
    hostId: "test",
    modelCalls,
    toolCalls,
  };
}

export const realClock: HostDeps["clock"] = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

export function rootRequest(changes: Partial<RunRequest> & { run: string }): RunRequest {
  return RunRequest.parse({
    v: 1,
    session: createCountingIds().next(),
    parent: null,
    agent: "main",
    depth: 0,
    attempt: 1,
    task: "do it",
    chain: [],
    layers: [],
    model: "test/model",
    workspace: { id: "w1", path: "/nowhere" },
    ...changes,
  });
}

/** Offers a request and waits for its one response. */
export async function ask(deps: HostDeps, request: RunRequest): Promise<RunResponse> {
  const answer = Promise.withResolvers<RunResponse>();
  const subscription = await deps.bus.subscribe(deps.subjects.settled(request.run), ({ bytes }) => {
    const { response } = decode(SettledMessage, bytes, "settled");
    if (response) answer.resolve(response);
  });
  await deps.queue.offer({ run: request.run, agent: request.agent, locality: "any", bytes: encode(request) });
  const response = await answer.promise;
  subscription.unsubscribe();
  return response;
}

export function delegate(agent: string, task: string, id = `call-${agent}-${task}`): ModelReply["calls"][number] {
  return toolCall("delegate", { agent, task }, id);
}

export function toolCall(name: string, args: ToolCall["args"] = {}, id = `call-${name}`): ToolCall {
  return { id, name, args, problem: null };
}

/** The network fails for every try of one turn. */
export function networkFailure(): RunFailure {
  return new RunFailure({ type: "network", message: "connection reset", recoverable: true, tries: 5 });
}

const free: ModelPrice = { inputPerMillion: 0, outputPerMillion: 0 };

function scriptedModels(script: Script, calls: string[], price: ModelPrice | null = free): ModelProvider {
  return {
    id: "test",
    priceOf: async () => price,
    async call(request, { signal }) {
      const { agent, attempt, step } = request.origin;
      calls.push(`${agent}/${attempt}/${step}`);
      const reply = await script(request, signal);
      const asked = reply.calls ?? [];
      return {
        text: "",
        calls: asked,
        usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 0, costUsd: 0 },
        stopReason: asked.length > 0 ? "tool_calls" : "end",
        model: "test/model",
        ...reply,
      };
    },
  };
}

function echoTools(calls: string[], override: Partial<ToolHost> = {}): ToolHost {
  const spec = { description: "x", groups: [], inputSchema: {} };
  return {
    specs: () => [
      { name: "echo", risk: "low", effect: "read", ...spec },
      { name: "danger", risk: "medium", effect: "unsafe", ...spec },
      { name: "deploy", risk: "high", effect: "unsafe", ...spec },
    ],
    plan: async () => null,
    assess: ({ name }) =>
      name === "deploy"
        ? { decision: "ask", risk: "high", reason: "deploy is of high risk" }
        : { decision: "allow", risk: "low", reason: "allowed" },
    async run(call, context) {
      calls.push(context.idempotencyKey);
      return ToolOutcome.parse({ output: `echo ${JSON.stringify(call.args)}` });
    },
    verify: async () => null,
    ...override,
  };
}

function registryOf(agents: TestAgent[]): AgentRegistry {
  const definitions = agents.map((agent) =>
    AgentSchema.parse({
      name: agent.id,
      description: `does ${agent.id}`,
      prompt: `You are ${agent.id}.`,
      source: { origin: "builtin", path: `${agent.id}.md` },
      ...agent,
    }),
  );
  return {
    agents: definitions,
    problems: [],
    find: (id) => definitions.find((agent) => agent.id === id),
    renderPrompt: (definition) => definition.prompt,
  };
}

/** All entries of a run so far. */
export async function entriesOf(
  deps: HostDeps,
  { session, run }: Pick<RunRequest, "session" | "run">,
): Promise<Entry[]> {
  return (await deps.journal.readRun(session, run)).map(openEntry);
}

/** Appends entries to a run's journal, as another host. */
export async function writeEntries(
  deps: HostDeps,
  { session, run }: Pick<RunRequest, "session" | "run">,
  bodies: readonly EntryBody[],
): Promise<void> {
  const last = (await entriesOf(deps, { session, run })).at(-1);
  const end = { index: last?.index ?? -1, hash: last?.hash ?? null };
  const writer = { session, run, epoch: last?.epoch ?? 1, host: "another", at: deps.clock.now() };
  const entries = sealEntries(writer, end, bodies, deps.redact).map(({ sealed }) => sealed);
  await deps.journal.append({ session, run, after: end.index, entries, terminal: false });
}

/** Waits until a run's journal meets the condition, and returns it. */
export async function entriesOnce(
  deps: HostDeps,
  run: Pick<RunRequest, "session" | "run">,
  condition: (entries: readonly Entry[]) => boolean,
): Promise<Entry[]> {
  for (;;) {
    const entries = await entriesOf(deps, run);
    if (condition(entries)) return entries;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Waits until a run's newest entry is of a kind. */
export function endsWith(kind: Entry["kind"]): (entries: readonly Entry[]) => boolean {
  return (entries) => entries.at(-1)?.kind === kind;
}
