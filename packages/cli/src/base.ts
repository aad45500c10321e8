import { homedir } from "node:os";
import { join } from "node:path";
import { type Clock, createSubjects, type Redactor } from "@troupe/core";
import { createMemoryBus, createMemoryTaskQueue } from "@troupe/core/memory";
import { openRecord, openSqliteJournal, startRecorder } from "@troupe/recorder";
import { createCompanySource } from "@troupe/roles";
import {
  builtinVerifiers,
  cacheReads,
  createCustomTools,
  createFolderBlobs,
  createRunFolders,
  createSandbox,
  createService,
  createToolHost,
  createTools,
  hideFolder,
  type Logger,
  loadPolicy,
  openApprovalRules,
  type Policy,
  type ProjectTrust,
  redactBlobs,
  redactedWorld,
  type Sandbox,
  shippedToolSpecs,
  systemIds,
} from "@troupe/runtime";
import { type Home, homeFiles } from "./home.ts";
import { instrument } from "./instruments.ts";
import type { Models } from "./models.ts";
import type { OwnerKind, RestOptions, SandboxFacts } from "./troupe.ts";
import { ownVersion } from "./version.ts";

/** What models and policies are told of this machine's tools. */
export const ownToolSpecs = shippedToolSpecs();

export type Base = Awaited<ReturnType<typeof openBase>>;

export interface BaseOptions extends Omit<RestOptions, "logger"> {
  logger: Logger;
  hostId: string;
  clock: Clock;
  redact: Redactor;
  models: Pick<Models, "provider" | "resolve">;
  /** Who owns the home; null where nothing is run in it. */
  kind: OwnerKind | null;
  /** Says whose tools count beside the user's own. */
  trust: Pick<ProjectTrust, "look">;
}

/**
 * What a troupe at work and one at rest have in common: journal, record, policy, rules, and the world over them. What
 * has to be undone is pushed, and undone in reverse.
 */
export async function openBase(options: BaseOptions, undo: (() => unknown)[]) {
  const { home, env, logger, hostId, clock, models, redact, trust } = options;
  const files = homeFiles(home);
  // A policy that cannot be read stops everything: without it more would be allowed than was meant.
  const policy = await loadPolicy(files.policy);
  // It tries what it says of itself, which takes a moment: meanwhile the stores are opened.
  const sandboxing = openSandbox({ home, policy, isUsed: options.kind !== null });
  sandboxing.catch(() => {});
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

  const blobs = redactBlobs(createFolderBlobs({ folder: files.blobs }), redact);
  const sandbox = await sandboxing;
  // A workspace may have the home in it: what is there decides over agents, and is none of theirs.
  undo.push(await hideFolder(home.path));
  const folders = createRunFolders({ folder: files.runs, blobs });
  const tools = createTools({ sandbox, journal, blobs, web: policy.web, memoryFolder: files.memory, env, clock });
  const custom = createCustomTools({
    folders: toolFolders(home, env),
    trust,
    shipped: tools,
    onProblem: ({ message, path, fix }) => logger.warn({ path, fix }, `a tool is left out: ${message}`),
  });
  const ownHost = createToolHost({ tools, custom, policy, rules, blobs, clock, redact });
  // Commands that were stopped with their sessions may take a moment to end.
  undo.push(() => ownHost.idle());
  const instrumented = instrument(env, {
    journal,
    queue,
    bus,
    subjects: createSubjects(),
    models: models.provider,
    resolveModel: models.resolve,
    tools: policy.cacheReads ? cacheReads({ host: ownHost }) : ownHost,
    companies: companySource(home, env),
    folders,
    verifiers: builtinVerifiers,
    clock,
    logger,
    hostId,
    redact,
  });
  const world = redactedWorld(instrumented);
  return { home, world, record, recorder, policy, rules, sandbox };
}

/** Where commands of agents are run. One that nothing is run in is not tried out. */
export function openSandbox({
  home,
  policy,
  isUsed,
}: {
  home: Home;
  policy: Policy;
  isUsed: boolean;
}): Promise<Sandbox> {
  const mode = isUsed ? policy.sandbox.mode : "off";
  return createSandbox({ policy: { ...policy.sandbox, mode }, hidden: [home.path] });
}

export interface ServiceFacts {
  kind: OwnerKind;
  models: Pick<Models, "choose" | "status">;
  startedAt: string;
}

/** The service behind every front end of this process. */
export function serviceOver(base: Base, { kind, models, startedAt }: ServiceFacts) {
  const { home, world, record, policy, rules, sandbox } = base;
  const files = homeFiles(home);
  return createService({
    world,
    record: record.reader,
    rules,
    policy,
    ids: systemIds(),
    workspaces: files.workspaces,
    model: models.choose,
    resolveScenario: async (name) => (await models.choose({ model: `scripted/${name}`, workspace: null })).id,
    status: () => ({
      version: ownVersion(),
      pid: process.pid,
      home: home.path,
      kind,
      bus: "in-process",
      store: files.journal,
      ...models.status,
      sandbox: factsOf(sandbox),
      startedAt,
    }),
  });
}

export function factsOf({ kind, contains, detail, fix }: Sandbox): SandboxFacts {
  return { kind, contains, detail, fix };
}

/** Where a user's own tools are, for all workspaces. */
export function toolFolders(home: Home, env: NodeJS.ProcessEnv): string[] {
  return [join(env.HOME || homedir(), ".troupe", "tools"), join(home.path, "tools")];
}

export function companySource(home: Home, env: NodeJS.ProcessEnv) {
  const userFolders = [join(env.HOME || homedir(), ".troupe", "agents"), join(home.path, "agents")];
  return createCompanySource({ userFolders });
}
