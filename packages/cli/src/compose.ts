import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TroupeError } from "@troupe/core";
import { journalVersion, openRecord, readSessionFeed, recordVersion } from "@troupe/recorder";
import { validateAgents } from "@troupe/roles";
import {
  createActorHost,
  createHttpClient,
  createModelRouter,
  createProjectTrust,
  createScenarioLoader,
  loadPolicy,
  openApprovalRules,
  policyWarnings,
  recoverOpenRuns,
  redactLogger,
  replaySession,
  serveHttp,
  systemClock,
  systemIds,
} from "@troupe/runtime";
import { createActiveSessions } from "./active-sessions.ts";
import { companySource, factsOf, openBase, openSandbox, ownToolSpecs, serviceOver } from "./base.ts";
import { type ConfigSource, openConfig, readConfig } from "./config/config.ts";
import { homeFiles } from "./home.ts";
import { announcingTrust } from "./inert.ts";
import { accessModels, type Models, openModels } from "./models.ts";
import { homeRedactor } from "./redactor.ts";
import type { Composition, RestingTroupe, RestOptions, RunningTroupe, StartOptions } from "./troupe.ts";

/** How long a graceful stop lets model calls and tools go on before it leaves them to the next start. */
const drainGraceMs = 5_000;

/**
 * The one place that knows all packages: puts journal, recorder, host, service and HTTP server of a home together.
 */
export const composition: Composition = {
  start: (options) => undoneOnFailure((undo, close) => startTroupe(options, undo, close)),
  rest: (options) => undoneOnFailure((undo, close) => restTroupe(options, undo, close)),
  connect: createHttpClient,
  newId: () => systemIds().next(),
  async openReader(home) {
    const { record: file } = homeFiles(home);
    if (!existsSync(file)) return null;
    const { reader, close } = await openRecord({ file });
    return Object.assign(reader, { close });
  },
  async readPolicy(home) {
    const policy = await loadPolicy(homeFiles(home).policy);
    return { layer: policy.layer, warnings: policyWarnings(policy, ownToolSpecs) };
  },
  async readSandbox(home) {
    const policy = await loadPolicy(homeFiles(home).policy);
    return factsOf(await openSandbox({ home, policy, isUsed: true }));
  },
  readRules: async (home) => [...(await openApprovalRules({ file: homeFiles(home).rules })).list()],
  readConfig,
  openModels: accessModels,
  loadCompany: ({ home, workspace, env }) => companySource(home, env).load(workspace),
  async replay({ home, session, current, env }) {
    const { journal: file } = homeFiles(home);
    const from = existsSync(file) ? await readSessionFeed({ file, session }) : [];
    const today = current ? { companies: companySource(home, env), tools: ownToolSpecs } : {};
    return await replaySession({ session, from, ...today });
  },
  validateAgents,
  storeVersions: { journal: journalVersion, record: recordVersion },
};

type Undo = (() => unknown)[];
type Close = () => Promise<void>;

/** What was begun is undone in reverse: at the end, or as soon as one step fails. */
async function undoneOnFailure<T>(begin: (undo: Undo, close: Close) => Promise<T>): Promise<T> {
  const undo: Undo = [];
  const close = async (): Promise<void> => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  try {
    return await begin(undo, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function startTroupe(options: StartOptions, undo: Undo, close: Close): Promise<RunningTroupe> {
  const { home, kind, env, port } = options;
  const clock = systemClock();
  // A configuration that cannot be read stops everything: another model than the one that was meant would answer.
  const trust = announcingTrust(createProjectTrust({ file: homeFiles(home).trust }), options.logger);
  const config = await openConfig({ home, env, cwd: process.cwd(), trust });
  const { redact, logger } = await hushed(options, config);
  const models = await openModels({ config, clock, logger, loadScenario: createScenarioLoader() });
  const hostId = `${kind}-${process.pid}`;
  const base = await openBase({ home, env, logger, redact, clock, models, kind, trust, hostId }, undo);
  const { world, recorder } = base;
  const host = createActorHost({ world });
  const service = serviceOver(base, { kind, models, startedAt: new Date(world.clock.now()).toISOString() });
  undo.push(() => service.close());
  const sessions = createActiveSessions(service, world);
  const server = await serveHttp({
    service: sessions.service,
    token: home.token,
    host: options.host,
    port,
    assets: dashboardFolder(),
    redact,
    onError: (err) => logger.error({ err }, "request failed"),
  });
  undo.push(() => server.close());
  undo.push(() => recorder.caughtUp().catch((err) => logger.error({ err }, "the record is behind the journal")));
  undo.push(() => host.stop({ graceMs: drainGraceMs }));

  // A `troupe run` answers its own question; what a killed daemon left is the next daemon's.
  const resumed = kind === "daemon" ? await recoverOpenRuns(world.journal, world.queue) : [];
  await host.start();
  logger.info({ kind, url: server.url, resumed: resumed.length, provider: models.status.provider }, "troupe is up");
  const sandbox = factsOf(base.sandbox);
  if (sandbox.contains) logger.info({ sandbox }, "commands of agents are contained");
  else logger.warn({ sandbox }, "commands of agents are not contained");
  return {
    url: server.url,
    token: home.token,
    service: sessions.service,
    requestedPort: port !== 0 && port !== server.port ? port : null,
    beginClosing: () => service.beginClosing(),
    idle: (besides) => sessions.idle(besides),
    close,
  };
}

/** How this process writes: without what its variables and its configuration hold for secret. */
async function hushed({ home, env, logger }: RestOptions, config: ConfigSource | null) {
  const providers = (await config?.at(null))?.providers.map(({ settings }) => settings) ?? [];
  const redact = homeRedactor({ env, token: home.token, providers });
  return { redact, logger: redactLogger(logger, redact) };
}

/** Nothing is run here, so that nothing has to be configured. */
const noModels = {
  provider: createModelRouter([]),
  resolve: async ({ inherited }) => inherited,
  choose: () => Promise.reject(new TroupeError("NO_PROVIDER", "nothing is run here", { fix: "troupe up" })),
  status: { provider: "none", model: null, demo: false },
} satisfies Models;

/** No host takes what is offered here: the next troupe that starts finds it in the journal. */
async function restTroupe(options: RestOptions, undo: Undo, close: Close): Promise<RestingTroupe> {
  const clock = systemClock();
  // Nothing is run here: a configuration that cannot be read is none of this process's business.
  const trust = createProjectTrust({ file: homeFiles(options.home).trust });
  const config = await openConfig({ ...options, cwd: process.cwd(), trust }).catch(() => null);
  const quiet = await hushed(options, config);
  const base = await openBase(
    { ...options, ...quiet, trust, clock, models: noModels, kind: null, hostId: `rest-${process.pid}` },
    undo,
  );
  const startedAt = new Date(base.world.clock.now()).toISOString();
  const control = serviceOver(base, { kind: "run", models: noModels, startedAt });
  undo.push(() => control.close());
  // What an owner that was killed had not recorded yet comes first, and what is done here comes at the end.
  await base.recorder.caughtUp();
  undo.push(() => base.recorder.caughtUp());
  return { control, close };
}

/** Where the built page is, in a checkout and in an installation alike. */
function dashboardFolder(): string {
  return join(dirname(fileURLToPath(import.meta.resolve("@troupe/dashboard/package.json"))), "dist");
}
