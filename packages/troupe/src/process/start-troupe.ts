import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Logger, TroupeError } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createModelRouter, createScenarioLoader } from "@troupe/models";
import { startPurging } from "@troupe/nats";
import { serveHttp } from "@troupe/runtime";
import { createProjectTrust } from "@troupe/tools";
import { openConfig } from "../config/config.ts";
import { homeFiles } from "../home/home.ts";
import { type Models, openModels } from "../models/open-models.ts";
import { keepDaysDefault } from "../nats/connection.ts";
import { findConnection } from "../nats/find-connection.ts";
import { reach } from "../nats/reach-server.ts";
import { createActiveSessions } from "./active-sessions.ts";
import { injectClockFaults } from "./fault-injection.ts";
import { type Base, factsOf, openBase, openRecording, serviceOver } from "./open-process.ts";
import { createOwnHost, newHostId, resumeRuns } from "./own-host.ts";
import { openRedaction } from "./redaction.ts";
import type { OfflineOptions, OfflineTroupe, RunningTroupe, StartOptions } from "./running-troupe.ts";
import { announcingTrust } from "./trust-notices.ts";

type Undo = (() => unknown)[];
type Close = () => Promise<void>;

/** What was begun is undone in reverse: at the end, or as soon as one step fails. */
export async function undoneOnFailure<T>(begin: (undo: Undo, close: Close) => Promise<T>): Promise<T> {
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

export async function startTroupe(options: StartOptions, undo: Undo, close: Close): Promise<RunningTroupe> {
  const { home, kind, env, port } = options;
  const clock = injectClockFaults(env, systemClock());
  // A configuration that cannot be read stops everything: another model than the one that was meant would answer.
  const trust = announcingTrust(createProjectTrust({ file: homeFiles(home).trust }), options.logger);
  const cwd = process.cwd();
  const config = await openConfig({ home, env, cwd, trust });
  const { nats } = await config.at(null);
  const found = findConnection({ flags: options.nats, nats, env, cwd });
  const { connection, own } = await reach(found, { home, env, logger: options.logger }, undo);
  const { redact, logger } = await openRedaction(options, config, connection);
  const models = await openModels({ config, clock, logger, loadScenario: createScenarioLoader() });
  const hostId = newHostId(kind);
  const base = await openBase(
    {
      ...options.work,
      home,
      env,
      logger,
      redact,
      clock,
      models,
      role: kind,
      trust,
      hostId,
      connection,
      notice: options.notice,
    },
    undo,
  );
  const { deps } = base;
  const recording = await openRecording(base, { logger }, undo);
  const host = createOwnHost(base, options.work, undo);
  const startedAt = new Date(deps.clock.now()).toISOString();
  const service = serviceOver(base, { kind, models, startedAt, record: recording.record });
  undo.push(() => service.close());
  const sessions = createActiveSessions(service, deps);
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
  undo.push(() => recording.caughtUp());
  undo.push(() => host.stop());

  await host.announce((by) => {
    logger.warn({ by }, "asked to drain: nothing new is run here from now on");
    void host.drain();
  });
  if (kind === "daemon") undo.push(startCare(base, logger));
  // A `troupe run` answers its own question; what a killed daemon left is the next daemon's.
  const resumed = kind === "daemon" ? await resumeRuns(base, undo) : [];
  await host.start();
  logger.info({ kind, url: server.url, resumed: resumed.length, provider: models.status.provider }, "troupe is up");
  const sandbox = factsOf(base.sandbox);
  if (sandbox.contains) logger.info({ sandbox }, "commands of agents are contained");
  else logger.warn({ sandbox }, "commands of agents are not contained");
  return {
    url: server.url,
    token: home.token,
    service: sessions.service,
    warnings: base.ports.warnings,
    ownServer: own,
    requestedPort: port !== 0 && port !== server.port ? port : null,
    beginClosing: () => service.beginClosing(),
    idle: (besides) => sessions.idle(besides),
    close,
  };
}

/** Nothing is run here, so that nothing has to be configured. */
const noModels = {
  provider: createModelRouter([]),
  resolve: async ({ inherited }) => inherited,
  choose: () => Promise.reject(new TroupeError("NO_PROVIDER", "nothing is run here", { fix: "troupe up" })),
  status: { provider: "none", model: null, demo: false },
} satisfies Models;

/** No host takes what is offered here: the next troupe that starts finds it in the journal, and others at once. */
export async function restTroupe(options: OfflineOptions, undo: Undo, close: Close): Promise<OfflineTroupe> {
  const { home, env } = options;
  const clock = systemClock();
  // Nothing is run here: a configuration that cannot be read is none of this process's business.
  const trust = createProjectTrust({ file: homeFiles(home).trust });
  const cwd = process.cwd();
  const config = await openConfig({ home, env, cwd, trust }).catch(() => null);
  const nats = (await config?.at(null))?.nats ?? {};
  const connection = findConnection({ flags: {}, nats, env, cwd });
  if (connection.kind === "auto") throw new Error("only a flag asks for a server of one's own");
  const quiet = await openRedaction(options, config, connection);
  const base = await openBase(
    { ...restingWork, home, env, ...quiet, trust, clock, models: noModels, connection, hostId: newHostId("rest") },
    undo,
  );
  const recording = await openRecording(base, quiet, undo);
  const startedAt = new Date(base.deps.clock.now()).toISOString();
  const control = serviceOver(base, { kind: "run", models: noModels, startedAt, record: recording.record });
  undo.push(() => control.close());
  await base.presence?.join();
  undo.push(() => base.presence?.leave());
  // What an owner that was killed had not recorded yet comes first, and what is done here comes at the end.
  await recording.caughtUp();
  undo.push(() => recording.caughtUp());
  return { control, close };
}

/** Old sessions leave the server, once every recorder has them. */
function startCare({ ports: { shared } }: Base, logger: Logger): () => void {
  if (!shared) return () => {};
  const { journal, keepDays } = shared;
  return startPurging({ journal, keepDays: keepDays ?? keepDaysDefault, clock: systemClock(), logger });
}

const restingWork = { role: null, serve: [], capacity: 1 };

/** Where the built page is, in a checkout and in an installation alike. */
function dashboardFolder(): string {
  return join(dirname(fileURLToPath(import.meta.resolve("@troupe/dashboard/package.json"))), "dist");
}
