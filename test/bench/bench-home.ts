import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  type AgentRegistry,
  createRedactor,
  createSubjects,
  type Journal,
  type ModelProvider,
  type RunResponse,
  silentLogger,
} from "@troupe/core";
import { decode, SettledMessage } from "@troupe/core/internal";
import { createMemoryBus, createMemoryTaskQueue } from "@troupe/core/memory";
import { systemClock, systemIds } from "@troupe/core/system";
import { openRecord, openSqliteJournal, type Recorder, startRecorder } from "@troupe/recorder";
import {
  type ActorHost,
  builtinVerifiers,
  createActorHost,
  createService,
  type FailpointHook,
  type HostDeps,
  noFailpoints,
  type RunningService,
} from "@troupe/runtime";
import { createFileTools, createSandbox, createShellTool, createToolHost, type Tool } from "@troupe/tools";
import { benchAgents } from "./bench-agents.ts";

/** As many secrets as a machine with a key for everything has. */
const redact = createRedactor({
  values: Array.from({ length: 30 }, (_, i) => ({
    name: `KEY_${i}`,
    value: `key-${i}-${"0123456789abcdef".repeat(3)}`,
  })),
});

export interface BenchHomeOptions {
  models: ModelProvider;
  /** Besides the shipped ones. */
  tools?: Tool[];
  capacity: number;
  /** @default benchCompany */
  registry?: AgentRegistry;
  failpoint?: FailpointHook;
  /** Puts something between the host and its journal. */
  watching?(journal: Journal): Journal;
}

/** The parts of a daemon in a temporary folder: real journal, recorder, queue, bus, host and service. */
export interface BenchHome {
  deps: HostDeps;
  host: ActorHost;
  recorder: Recorder;
  service: RunningService;
  /** Submits a session whose tree may start so many runs; resolves with its root's response. */
  ask(task: string, runs: number): Promise<RunResponse>;
  close(): Promise<void>;
}

export async function openBenchHome(options: BenchHomeOptions): Promise<BenchHome> {
  const folder = await mkdtemp(path.join(tmpdir(), "troupe-bench-"));
  const journal = await openSqliteJournal({ file: path.join(folder, "journal.db") });
  const record = await openRecord({ file: path.join(folder, "troupe.db") });
  const recorder = startRecorder({ journal, record });
  const deps = createBenchDeps(options.watching?.(journal) ?? journal, options);
  const host = createActorHost({ deps, capacity: options.capacity });
  const service = createService({
    deps,
    ids: systemIds(),
    workspaces: path.join(folder, "workspaces"),
    model: { id: `${options.models.id}/model`, demo: false },
    resolveScenario: async (name) => name,
    record: record.reader,
    status: () => {
      throw new Error("a benchmark has no status");
    },
  });
  await host.start();

  return {
    deps,
    host,
    recorder,
    service,
    async ask(task, runs) {
      const { run } = await service.submit({ task, origin: "api", budget: { spawns: runs } });
      return responseOf(deps, run);
    },
    async close() {
      await host.stop({ graceMs: 0 });
      await recorder.stop();
      record.close();
      await journal.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Every root run calls its model before it answers, so a subscription right after submit is in time. */
async function responseOf({ bus, subjects }: HostDeps, run: string): Promise<RunResponse> {
  const answer = Promise.withResolvers<RunResponse>();
  const subscription = await bus.subscribe(subjects.settled(run), ({ bytes }) => {
    const { response } = decode(SettledMessage, bytes, "settled message");
    if (response) answer.resolve(response);
  });
  const response = await answer.promise;
  subscription.unsubscribe();
  return response;
}

const sandbox = await createSandbox();

function createBenchDeps(
  journal: Journal,
  { models, tools = [], registry = benchAgents, failpoint = noFailpoints }: BenchHomeOptions,
): HostDeps {
  return {
    journal,
    queue: createMemoryTaskQueue(),
    bus: createMemoryBus(),
    subjects: createSubjects(),
    models,
    tools: createToolHost({ tools: [...createFileTools({ journal }), createShellTool({ sandbox }), ...tools] }),
    agentSource: { load: async () => registry },
    verifiers: builtinVerifiers,
    clock: systemClock(),
    logger: silentLogger,
    failpoint,
    hostId: "bench",
    redact,
  };
}
