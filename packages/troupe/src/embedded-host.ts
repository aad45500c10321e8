import {
  type AgentDefinition,
  type AgentRegistry,
  type AgentSource,
  type Clock,
  createRedactor,
  createSubjects,
  type Journal,
  type Logger,
  type ModelProvider,
  type Redactor,
  type RequestHandler,
  type RunFolders,
  type RunRequest,
  type Secret,
  silentLogger,
  type ToolHost,
  TroupeError,
} from "@troupe/core";
import { createMemoryBus, createMemoryTaskQueue } from "@troupe/core/memory";
import { systemClock } from "@troupe/core/system";
import {
  type ActorHostOptions,
  builtinObservers,
  builtinVerifiers,
  createActorHost,
  type HostDeps,
  noFailpoints,
  type Observers,
  recoverOpenRuns,
  redactDeps,
  type Verifiers,
} from "@troupe/runtime";
import { createToolHost, createWorkspaceFiles, type Tool } from "@troupe/tools";
import type { AgentInput } from "./options.ts";
import { definitionOf } from "./program-agents.ts";

export interface EmbeddedHostOptions extends Pick<ActorHostOptions, "capacity"> {
  /** Keeps every run. Its opener closes it, after `stop()`. */
  journal: Journal;
  models: ModelProvider;
  /** Agents of this process, in place of `agentSource`. Their prompts are used unchanged. */
  agents?: readonly AgentInput[];
  /** A source of agents, such as `createAgentSource` of `@troupe/roles`, in place of `agents`. */
  agentSource?: AgentSource;
  /** @default none */
  tools?: ToolHost | readonly Tool[];
  /** Handlers of requests that need no model, for agents that name them. @default none */
  handlers?: readonly RequestHandler[];
  /** Folders of isolated runs and worktrees. @default none: such runs are refused */
  folders?: RunFolders;
  /** @default builtinVerifiers */
  verifiers?: Verifiers;
  /** @default builtinObservers */
  observers?: Observers;
  /** @default systemClock() */
  clock?: Clock;
  /** @default silentLogger */
  logger?: Logger;
  /** The host in every entry of this process. @default "embedded" */
  hostId?: string;
  /**
   * Values to redact from everything that is written, sent or logged, besides values in the shape of a key: those of
   * `secretsOf`, and others that you know. @default none: nothing is redacted
   */
  secrets?: readonly (string | Secret)[];
}

/** A troupe in this process: a bus and a queue in memory, with one host. */
export interface EmbeddedHost {
  deps: HostDeps;
  /**
   * Begins to take tasks.
   *
   * @param options.resume whether open runs of an earlier process continue here. @default true
   */
  start(options?: { resume?: boolean }): Promise<void>;
  /**
   * Lets running calls finish within the grace, and leaves the rest to the next start.
   *
   * @param options.graceMs @default 5000
   */
  stop(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Everything that is needed to run agents within a program of one's own.
 *
 * @example
 * const embedded = createEmbeddedHost({
 *   journal: await openSqliteJournal({ file: "journal.db" }),
 *   models: createScriptedProvider({ load: createScenarioLoader(), clock: systemClock() }),
 *   agents: [{ id: "reviewer", description: "Reviews a change", prompt: "You review changes.", tools: ["read"] }],
 *   tools: createFileTools({ journal }),
 * });
 * await embedded.start();
 * const team = createTeam({ world: embedded.world, model: "scripted/demo", workspace: process.cwd() });
 */
export function createEmbeddedHost(options: EmbeddedHostOptions): EmbeddedHost {
  const { journal, models, clock = systemClock(), logger = silentLogger, hostId = "embedded", capacity } = options;
  const queue = createMemoryTaskQueue();
  const bus = createMemoryBus({
    onListenerError: (err, subject) => logger.error({ err, subject }, "a listener of the bus failed"),
  });
  const redact = redactorOf(options);
  const deps: HostDeps = redactDeps({
    journal,
    queue,
    bus,
    subjects: createSubjects(),
    models,
    tools: toolHostOf(options, clock, redact),
    agentSource: agentSourceOf(options),
    verifiers: options.verifiers ?? builtinVerifiers,
    observers: { named: options.observers ?? builtinObservers, files: createWorkspaceFiles() },
    clock,
    logger,
    failpoint: noFailpoints,
    hostId,
    handlers: new Map((options.handlers ?? []).map((handler) => [handler.name, handler])),
    ...(options.folders ? { folders: options.folders } : {}),
    ...(redact ? { redact } : {}),
  });
  const host = createActorHost({ deps, ...(capacity === undefined ? {} : { capacity }) });
  return {
    deps,
    async start({ resume = true } = {}) {
      if (resume) await recoverOpenRuns(journal, queue);
      await host.start();
    },
    async stop({ graceMs = 5_000 } = {}) {
      await host.stop({ graceMs });
      await queue.close();
      await bus.close();
    },
  };
}

function redactorOf({ secrets }: EmbeddedHostOptions): Redactor | undefined {
  if (!secrets) return undefined;
  const values = secrets.map((secret) => (typeof secret === "string" ? { name: "a secret", value: secret } : secret));
  return createRedactor({ values });
}

function toolHostOf({ tools = [] }: EmbeddedHostOptions, clock: Clock, redact: Redactor | undefined): ToolHost {
  return "run" in tools ? tools : createToolHost({ tools, clock, ...(redact ? { redact } : {}) });
}

function agentSourceOf({ agents, agentSource }: EmbeddedHostOptions): AgentSource {
  if (agentSource && !agents) return agentSource;
  if (agents && !agentSource) {
    const registry = registryOf(agents);
    return { load: async () => registry };
  }
  const message = agentSource ? "both agents and agentSource are set" : "it has no agents";
  throw new TroupeError("USAGE", `an embedded host: ${message}`, { fix: "set either agents or agentSource" });
}

/** The same for every workspace. */
function registryOf(inputs: readonly AgentInput[]): AgentRegistry {
  const byId = new Map<string, AgentDefinition>();
  for (const input of inputs) {
    const agent = definitionOf(input);
    if (byId.has(agent.id)) {
      throw new TroupeError("INVALID_AGENT", `two agents are called "${agent.id}"`, { fix: "give one another id" });
    }
    byId.set(agent.id, agent);
  }
  return {
    agents: [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    problems: [],
    find: (id) => byId.get(id),
    renderPrompt: promptOf,
  };
}

/** An agent's own prompt lacks its output schema, which is added here. */
function promptOf({ prompt, outputSchema }: AgentDefinition, request: RunRequest): string {
  const schema = request.outputSchema ?? outputSchema;
  if (schema === null) return prompt;
  const rule =
    "Your last message has to be one JSON value that fits this JSON Schema, with no word before or after it:";
  return `${prompt}\n\n${rule}\n\n${JSON.stringify(schema)}`;
}
