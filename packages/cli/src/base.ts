import { homedir } from "node:os";
import { join } from "node:path";
import { createSubjects } from "@troupe/core";
import { createMemoryBus, createMemoryTaskQueue } from "@troupe/core/memory";
import { openRecord, openSqliteJournal, startRecorder } from "@troupe/recorder";
import { createCompanySource } from "@troupe/roles";
import {
  builtinVerifiers,
  cacheReads,
  createFolderBlobs,
  createModelRouter,
  createRecallTool,
  createReliableProvider,
  createScenarioLoader,
  createScriptedProvider,
  createService,
  createToolHost,
  loadPolicy,
  openApprovalRules,
  ProviderLimits,
  type RecallOptions,
  readTool,
  shellTool,
  systemClock,
  systemIds,
  type Tool,
  writeTool,
} from "@troupe/runtime";
import type { ModelChoice } from "./choose-model.ts";
import { type Home, homeFiles } from "./home.ts";
import { instrument } from "./instruments.ts";
import type { OwnerKind, RestOptions } from "./troupe.ts";
import { ownVersion } from "./version.ts";

/** The tools that every machine has. */
function ownTools(world: RecallOptions): Tool[] {
  return [readTool, writeTool, shellTool, createRecallTool(world)];
}

/** What models and policies are told of them: that needs no world. */
export const ownToolSpecs = ownTools({ journal: { readRun: async () => [] } }).map(({ spec }) => spec);

export type Base = Awaited<ReturnType<typeof openBase>>;

/**
 * What a troupe at work and one at rest have in common: journal, record, policy, rules, and the world over them. What
 * has to be undone is pushed, and undone in reverse.
 */
export async function openBase(options: RestOptions & { hostId: string }, undo: (() => unknown)[]) {
  const { home, env, logger, hostId } = options;
  const files = homeFiles(home);
  // A policy that cannot be read stops everything: without it more would be allowed than was meant.
  const policy = await loadPolicy(files.policy);
  const rules = await openApprovalRules({ file: files.rules });
  const journal = await openSqliteJournal({ file: files.journal });
  undo.push(() => journal.close());
  const record = await openRecord({ file: files.record });
  undo.push(() => record.close());
  const recorder = startRecorder({
    journal,
    record,
    onError: ({ cause, message, ...where }) => logger.error({ ...where, err: cause }, message),
  });
  undo.push(() => recorder.stop());
  const bus = createMemoryBus({ onListenerError: (err, subject) => logger.error({ err, subject }, "listener failed") });
  undo.push(() => bus.close());
  const queue = createMemoryTaskQueue();
  undo.push(() => queue.close());

  const clock = systemClock();
  const loadScenario = createScenarioLoader();
  const blobs = createFolderBlobs({ folder: files.blobs });
  const ownHost = createToolHost({ tools: ownTools({ journal, blobs }), policy, rules, blobs, clock });
  // Commands that were stopped with their sessions may take a moment to end.
  undo.push(() => ownHost.idle());
  const world = instrument(env, {
    journal,
    queue,
    bus,
    subjects: createSubjects(),
    models: createModelRouter([
      createReliableProvider({
        provider: createScriptedProvider({ load: loadScenario, clock }),
        limits: ProviderLimits.parse({}),
        clock,
        random: Math.random,
      }),
    ]),
    tools: policy.cacheReads ? cacheReads({ host: ownHost }) : ownHost,
    companies: companySource(home, env),
    verifiers: builtinVerifiers,
    clock,
    logger,
    hostId,
  });
  return { home, world, record, recorder, policy, rules, loadScenario };
}

/** The service behind every front end of this process. */
export function serviceOver(base: Base, options: { kind: OwnerKind; choice: ModelChoice; startedAt: string }) {
  const { home, world, record, policy, rules, loadScenario } = base;
  const { kind, choice, startedAt } = options;
  const files = homeFiles(home);
  return createService({
    world,
    record: record.reader,
    rules,
    policy,
    ids: systemIds(),
    workspaces: files.workspaces,
    model: choice.model,
    ...(choice.missing ? { noModel: choice.missing } : {}),
    async resolveScenario(name) {
      await loadScenario(name);
      return `scripted/${name}`;
    },
    status: () => ({
      version: ownVersion(),
      pid: process.pid,
      home: home.path,
      kind,
      bus: "in-process",
      store: files.journal,
      provider: choice.label,
      demo: choice.model?.demo ?? false,
      startedAt,
    }),
  });
}

export function companySource(home: Home, env: NodeJS.ProcessEnv) {
  const userFolders = [join(env.HOME || homedir(), ".troupe", "agents"), join(home.path, "agents")];
  return createCompanySource({ userFolders });
}
