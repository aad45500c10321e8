import { type Logger, type Redactor, TroupeError } from "@troupe/core";
import { systemClock, systemIds } from "@troupe/core/system";
import { createModelRouter, createScenarioLoader } from "@troupe/models";
import { type HttpServer, type ServeHttpOptions, serveHttp } from "@troupe/runtime";
import { createProjectTrust } from "@troupe/tools";
import type { Cleanup } from "../cleanup.ts";
import { type ConfigSource, openConfig } from "../config/config.ts";
import { defaultOffice } from "../config/office-settings.ts";
import { homeFiles } from "../home/home.ts";
import { withoutDemo } from "../models/choose-model.ts";
import { type Models, openModels } from "../models/open-models.ts";
import { keepDaysDefault } from "../nats/connection.ts";
import { findConnection } from "../nats/find-connection.ts";
import { loadNats } from "../nats/load-nats.ts";
import { startOwnServerIfAsked } from "../nats/own-server.ts";
import { type RunningWebhooks, startWebhooks, type WebhookOptions } from "../webhooks/start-webhooks.ts";
import { createActiveSessions } from "./active-sessions.ts";
import { checkServed } from "./check-served.ts";
import { injectClockFaults } from "./fault-injection.ts";
import { createLocalHost, newHostId, resumeRuns } from "./local-host.ts";
import {
  createProcessService,
  hostRole,
  openProcess,
  openRecording,
  type ProcessParts,
  sandboxFacts,
} from "./open-process.ts";
import { openRedaction } from "./redaction.ts";
import { startRetention } from "./retention.ts";
import type { HttpOptions, OfflineOptions, OfflineTroupe, RunningTroupe, StartOptions } from "./running-troupe.ts";
import { createLoggingTrust } from "./trust-notices.ts";

/**
 * Starts everything that a home needs to run agents: journal, record, host, service, and the HTTP API if asked for.
 * `troupe up`, `troupe run` and `createTroupe` all call this function.
 */
export async function startTroupe(options: StartOptions, cleanup: Cleanup): Promise<RunningTroupe> {
  const { home, kind, env, http, program = {} } = options;
  const settings = program.settings ?? home;
  const clock = injectClockFaults(env, systemClock());
  const trust = createLoggingTrust({ file: homeFiles(settings).trust, logger: options.logger });
  const cwd = process.cwd();
  // An unreadable configuration stops the start: another model than the intended one would answer.
  const config = await openConfig({ home, env, cwd, trust });
  const { nats, listTokens, hints, office, retention } = await config.at(null);
  const found = await findConnection({ flags: options.nats, nats, env, cwd });
  const { connection, own } = await startOwnServerIfAsked(found, { home, env, logger: options.logger }, cleanup);
  const { redact, logger } = await openRedaction(options, config, connection, settings);
  const { model, providers = [] } = program;
  const loadScenario = createScenarioLoader();
  const models = await openModels({ config, clock, logger, loadScenario, model, providers });
  const shared = {
    home,
    env,
    logger,
    redact,
    clock,
    models,
    trust,
    connection,
    program,
    notice: options.notice,
    onBroken: options.onBroken,
  };
  const delegation = { agentListTokens: listTokens?.value, hints: hints?.value !== "off" };
  const parts = await openProcess(
    { ...options.work, ...shared, ...delegation, office, role: hostRole(kind), hostId: newHostId(kind) },
    cleanup,
  );
  const { deps } = parts;
  if (kind === "daemon") await checkServed(parts, options.work, cwd);
  const recording = await openRecording(parts, { logger, onBroken: options.onBroken }, cleanup);
  await parts.hints?.follow(recording.record.reader);
  cleanup.add(() => parts.hints?.stop());
  const host = createLocalHost(parts, options.work, cleanup);
  const startedAt = new Date(deps.clock.now()).toISOString();
  const service = createProcessService(parts, {
    kind,
    models: kind === "program" ? { ...models, choose: withoutDemo(models.choose) } : models,
    startedAt,
    record: recording.record,
    defaultTeam: async (workspace) => program.team ?? (await config.at(workspace)).team?.value ?? null,
    allowHome: options.allowHome,
    config,
  });
  cleanup.add(() => service.close());
  const sessions = createActiveSessions(service, deps);
  const record = recording.record.reader;
  const webhooks = await startWebhooksOf(parts, { home, kind, env, logger, record, config }, cleanup);
  const served = { ...sessions.service, webhooks };
  const server = http && (await serve(http, { service: served, token: home.token, redact, logger }));
  if (server) cleanup.add(() => server.close());
  cleanup.add(() => recording.caughtUp());
  cleanup.add(() => host.stop());

  await host.announce((by) => {
    logger.warn({ by }, "a drain was requested: this host takes no new runs");
    void host.drain();
  });
  if (kind === "daemon") cleanup.add(await purgeOldSessions(parts, logger));
  if (kind === "daemon" && parts.ports.shared === null) {
    await recording.caughtUp();
    const bounds = { maxAgeMs: retention.maxAgeMs?.value ?? null, maxBytes: retention.maxBytes?.value ?? null };
    const archive = service.sessionArchive;
    if (archive) cleanup.add(startRetention({ home, ...bounds, record: recording.record, archive, clock, logger }));
  }
  // `troupe run` answers its own request only. The next daemon resumes the runs of a killed one.
  const resumed = kind === "run" ? [] : await resumeRuns(parts, cleanup);
  await host.start();
  const facts = { kind, url: server?.url ?? null, resumed: resumed.length, provider: models.status.provider };
  logger.info(facts, "troupe is up");
  logSandbox(parts, logger);
  return {
    url: server?.url ?? null,
    token: home.token,
    service: served,
    deps,
    policy: parts.policy,
    models,
    warnings: parts.ports.warnings,
    ownServer: own,
    requestedPort: server && http.port !== 0 && http.port !== server.port ? http.port : null,
    beginClosing: () => service.beginClosing(),
    idle: (besides) => sessions.idle(besides),
    close: cleanup.run,
  };
}

/** A `troupe run` ends with its session, so it leaves its events to the next daemon. */
async function startWebhooksOf(
  { deps: { clock }, policy }: ProcessParts,
  options: Pick<StartOptions, "home" | "kind"> &
    Pick<WebhookOptions, "env" | "logger" | "record"> & { config: ConfigSource },
  cleanup: Cleanup,
): Promise<RunningWebhooks | undefined> {
  const { home, kind, config, ...shared } = options;
  if (kind !== "daemon") return undefined;
  const webhooks = await startWebhooks({
    ...shared,
    ...{ file: homeFiles(home).webhooks, clock, policy: policy.web, newId: () => systemIds().next() },
    configured: (await config.at(null)).webhooks.map(({ value }) => value),
  });
  cleanup.add(() => webhooks.stop());
  return webhooks;
}

async function serve(
  { host, port, assets }: HttpOptions,
  { logger, ...rest }: Pick<ServeHttpOptions, "service" | "token"> & { redact: Redactor; logger: Logger },
): Promise<HttpServer> {
  const onError = (err: unknown): void => logger.error({ err }, "request failed");
  return await serveHttp({ ...rest, host, port, assets, onError });
}

function logSandbox({ sandbox }: ProcessParts, logger: Logger): void {
  const facts = { sandbox: sandboxFacts(sandbox) };
  if (sandbox.contains) logger.info(facts, "agents' commands run in a sandbox");
  else logger.warn(facts, "agents' commands run without a sandbox");
}

/** Models of an offline troupe, which runs no agents and needs no provider. */
const noModels = {
  provider: createModelRouter([]),
  resolve: async ({ inherited }) => inherited,
  choose: () => Promise.reject(new TroupeError("NO_PROVIDER", "this process runs no agents", { fix: "troupe up" })),
  status: { provider: "none", model: null, demo: false },
} satisfies Models;

/** Opens a home without a host. Hosts on a shared server see its commands at once, others at the next start. */
export async function openOfflineTroupe(options: OfflineOptions, cleanup: Cleanup): Promise<OfflineTroupe> {
  const { home, env } = options;
  const clock = systemClock();
  // No agents run here, so an invalid configuration does not matter.
  const trust = createProjectTrust({ file: homeFiles(home).trust });
  const cwd = process.cwd();
  const config = await openConfig({ home, env, cwd, trust }).catch(() => null);
  const { nats = {}, office = defaultOffice } = (await config?.at(null)) ?? {};
  const connection = await findConnection({ flags: {}, nats, env, cwd });
  if (connection.kind === "auto") throw new Error("--nats auto is a flag, and this process has no flags");
  const quiet = await openRedaction(options, config, connection);
  const parts = await openProcess(
    { ...noAgents, home, env, ...quiet, trust, clock, models: noModels, office, connection, hostId: newHostId("rest") },
    cleanup,
  );
  const recording = await openRecording(parts, quiet, cleanup);
  const startedAt = new Date(parts.deps.clock.now()).toISOString();
  const control = createProcessService(parts, { kind: "run", models: noModels, startedAt, record: recording.record });
  cleanup.add(() => control.close());
  await parts.presence?.join();
  cleanup.add(() => parts.presence?.leave());
  // Records the last entries of a killed owner before the command, and the command itself at the end.
  await recording.caughtUp();
  cleanup.add(() => recording.caughtUp());
  return { control, close: cleanup.run };
}

/** Deletes old sessions from the server once every recorder has them. */
async function purgeOldSessions({ ports: { shared } }: ProcessParts, logger: Logger): Promise<() => void> {
  if (!shared) return () => {};
  const { journal, keepDays } = shared;
  const { startPurging } = await loadNats();
  return startPurging({ journal, keepDays: keepDays ?? keepDaysDefault, clock: systemClock(), logger });
}

const noAgents = { role: null, serve: [], capacity: 1 };
