import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSubjects } from "@troupe/core";
import { createMemoryBus, createMemoryTaskQueue } from "@troupe/core/memory";
import { journalVersion, openRecord, openSqliteJournal, recordVersion, startRecorder } from "@troupe/recorder";
import { createCompanySource, validateAgents } from "@troupe/roles";
import {
  builtinVerifiers,
  createActorHost,
  createFolderBlobs,
  createHttpClient,
  createModelRouter,
  createScenarioLoader,
  createScriptedProvider,
  createService,
  createToolHost,
  readTool,
  recoverOpenRuns,
  serveHttp,
  shellTool,
  systemClock,
  systemIds,
  type World,
  writeTool,
} from "@troupe/runtime";
import { createActiveSessions } from "./active-sessions.ts";
import { chooseModel } from "./choose-model.ts";
import { type Home, homeFiles } from "./home.ts";
import { instrument } from "./instruments.ts";
import type { Composition, RunningTroupe, StartOptions } from "./troupe.ts";
import { ownVersion } from "./version.ts";

/** How long a graceful stop lets model calls and tools go on before it leaves them to the next start. */
const drainGraceMs = 5_000;

/**
 * The one place that knows all packages: puts journal, recorder, host, service and HTTP server of a home together.
 */
export const composition: Composition = {
  start: startTroupe,
  connect: createHttpClient,
  newSession: () => systemIds().next(),
  async openReader(home) {
    const { record: file } = homeFiles(home);
    if (!existsSync(file)) return null;
    const { reader, close } = await openRecord({ file });
    return Object.assign(reader, { close });
  },
  loadCompany: ({ home, workspace, env }) => companySource(home, env).load(workspace),
  validateAgents,
  storeVersions: { journal: journalVersion, record: recordVersion },
};

async function startTroupe(options: StartOptions): Promise<RunningTroupe> {
  // Undone in reverse: at the end, or as soon as one step fails.
  const undo: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  try {
    return await assemble(options, undo, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function assemble(
  options: StartOptions,
  undo: (() => unknown)[],
  close: () => Promise<void>,
): Promise<RunningTroupe> {
  const { home, kind, env, logger } = options;
  const files = homeFiles(home);
  const loadScenario = createScenarioLoader();
  const choice = await chooseModel(env, loadScenario);

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
  const blobs = createFolderBlobs({ folder: files.blobs });
  const world: World = instrument(env, {
    journal,
    queue,
    bus,
    subjects: createSubjects(),
    models: createModelRouter([createScriptedProvider({ load: loadScenario, clock })]),
    tools: createToolHost({ tools: [readTool, writeTool, shellTool], blobs, clock }),
    companies: companySource(home, env),
    verifiers: builtinVerifiers,
    clock,
    logger,
    hostId: `${kind}-${process.pid}`,
  });
  const host = createActorHost({ world });
  const startedAt = new Date(clock.now()).toISOString();
  const service = createService({
    world,
    record: record.reader,
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
  undo.push(() => service.close());
  const sessions = createActiveSessions(service, world);
  const { port } = options;
  const server = await serveHttp({
    service: sessions.service,
    token: home.token,
    host: options.host,
    port,
    assets: dashboardFolder(),
    onError: (err) => logger.error({ err }, "request failed"),
  });
  undo.push(() => server.close());
  undo.push(() => recorder.caughtUp().catch((err) => logger.error({ err }, "the record is behind the journal")));
  undo.push(() => host.stop({ graceMs: drainGraceMs }));

  // A `troupe run` answers its own question; what a killed daemon left is the next daemon's.
  const resumed = kind === "daemon" ? await recoverOpenRuns(journal, queue) : [];
  await host.start();
  logger.info({ kind, url: server.url, resumed: resumed.length, provider: choice.label }, "troupe is up");
  return {
    url: server.url,
    token: home.token,
    service: sessions.service,
    requestedPort: port !== 0 && port !== server.port ? port : null,
    beginClosing: () => service.beginClosing(),
    idle: () => sessions.idle(),
    close,
  };
}

function companySource(home: Home, env: NodeJS.ProcessEnv) {
  const userFolders = [join(env.HOME || homedir(), ".troupe", "agents"), join(home.path, "agents")];
  return createCompanySource({ userFolders });
}

/** Where the built page is, in a checkout and in an installation alike. */
function dashboardFolder(): string {
  return join(dirname(fileURLToPath(import.meta.resolve("@troupe/dashboard/package.json"))), "dist");
}
