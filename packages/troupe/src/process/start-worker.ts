import { setTimeout as delay } from "node:timers/promises";
import { TroupeError } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createScenarioLoader } from "@troupe/models";
import type { NatsLink } from "@troupe/nats";
import { createHostDirectory } from "@troupe/runtime";
import type { Cleanup } from "../cleanup.ts";
import { openConfig } from "../config/config.ts";
import { homeFiles } from "../home/home.ts";
import { openModels } from "../models/open-models.ts";
import type { Connection } from "../nats/connection.ts";
import { findConnection } from "../nats/find-connection.ts";
import { loadNats } from "../nats/load-nats.ts";
import { checkServed } from "./check-served.ts";
import { injectClockFaults } from "./fault-injection.ts";
import { createLocalHost } from "./local-host.ts";
import { openProcess, type ProcessParts } from "./open-process.ts";
import { openRedaction } from "./redaction.ts";
import type { RunningWorker, WorkerOptions } from "./running-troupe.ts";
import { createLoggingTrust } from "./trust-notices.ts";

type Server = Extract<Connection, { kind: "server" }>;

/** Starts a host without a service. It takes tasks of its agents from a NATS server. */
export async function startWorker(options: WorkerOptions, cleanup: Cleanup): Promise<RunningWorker> {
  const { home, name, env, work, workspace, notice } = options;
  const clock = injectClockFaults(env, systemClock());
  const trust = createLoggingTrust({ file: homeFiles(home).trust, logger: options.logger });
  const cwd = process.cwd();
  const config = await openConfig({ home, env, cwd, trust });
  const { nats, listTokens, office } = await config.at(null);
  const connection = requireServer(await findConnection({ flags: options.nats, nats, env, cwd }));
  const { redact, logger } = await openRedaction(options, config, connection);
  const models = await openModels({ config, clock, logger, loadScenario: createScenarioLoader() });
  await awaitServer(connection, options);
  const parts = await openProcess(
    {
      ...{ ...work, home, env, logger, redact, clock, models, trust, connection, notice },
      ...{
        agentListTokens: listTokens?.value,
        office,
        role: "worker",
        hostId: name,
        ...(workspace === null ? {} : { project: workspace }),
      },
    },
    cleanup,
  );
  const host = createLocalHost(parts, work, cleanup);
  cleanup.add(() => host.stop());
  await checkName(parts, options);
  await checkServed(parts, work);
  if (parts.served.ids().length === 0) throw nothingServed();

  const drain = Promise.withResolvers<string>();
  await host.announce((by) => {
    logger.warn({ by }, "drain requested");
    drain.resolve(by);
  });
  await host.start();
  const { ports, served } = parts;
  logger.info({ agents: served.ids(), capacity: work.capacity, ...ports.status() }, "worker is up");
  return {
    agents: served.ids(),
    locality: connection.locality,
    bus: () => ports.status().bus,
    warnings: ports.warnings,
    drainRequested: drain.promise,
    close: cleanup.run,
  };
}

function requireServer(connection: Connection): Server {
  if (connection.kind === "server") return connection;
  const why = connection.kind === "auto" ? "`auto` is for `troupe up` only" : "no server is configured";
  throw new TroupeError("USAGE", `a worker needs a NATS server: ${why}`, {
    fix: "troupe worker --agents <names> --nats nats://host:4222",
  });
}

const lookEveryMs = 2_000;

/**
 * Waits for the server and for the streams that a daemon creates there, because machines can start in any order. Refused
 * credentials are an error at once.
 */
async function awaitServer(connection: Server, { notice, signal }: WorkerOptions): Promise<void> {
  let reported = "";
  const report = (why: string): void => {
    if (why !== reported) notice(`waiting: ${why}`);
    reported = why;
  };
  for (;;) {
    const why = await missingOnServer(connection);
    if (why === null) return;
    report(why);
    await delay(lookEveryMs, undefined, { signal });
  }
}

/** The reason to wait; null if the server and its streams are ready. */
async function missingOnServer({ server, namespace, settings }: Server): Promise<string | null> {
  const { servers, access, inboxPrefix } = server;
  const { checkStreams, openNatsLink } = await loadNats();
  let link: NatsLink | null = null;
  try {
    link = await openNatsLink({ servers, access, ...(inboxPrefix === undefined ? {} : { inboxPrefix }) });
    const { missing } = await checkStreams({ link, namespace, settings });
    if (missing.length === 0) return null;
    return `${link.redactedUrl} has no streams of the namespace ${namespace}; \`troupe up --nats\` creates them`;
  } catch (error) {
    if (TroupeError.is(error) && ["UNREACHABLE", "TIMEOUT", "CLOSED"].includes(error.code)) return error.message;
    throw error;
  } finally {
    await link?.close();
  }
}

/** Throws `CONFLICT` if another host has the chosen name. */
async function checkName({ deps }: ProcessParts, { name, isNamed }: WorkerOptions): Promise<void> {
  if (!isNamed) return;
  const others = createHostDirectory({ ...deps, own: null });
  await others.start();
  try {
    // No host serves this agent, so this queries every host and waits for the replies.
    await others.serving("nobody", "nowhere");
    const taken = others.list().find(({ host, alive }) => host === name && alive);
    if (!taken) return;
    throw new TroupeError("CONFLICT", `the name ${name} is taken by a ${taken.role} (pid ${taken.pid})`, {
      fix: `choose another name: --name ${name}-2`,
    });
  } finally {
    others.stop();
  }
}

function nothingServed(): TroupeError {
  return new TroupeError("USAGE", "no agent is available to serve", { fix: "troupe agents ls" });
}
