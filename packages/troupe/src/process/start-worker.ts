import { setTimeout as delay } from "node:timers/promises";
import { type AgentRegistry, TroupeError } from "@troupe/core";
import { didYouMean } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import { createScenarioLoader } from "@troupe/models";
import { checkStreams, type NatsLink, openNatsLink } from "@troupe/nats";
import { createHostDirectory } from "@troupe/runtime";
import { createProjectTrust } from "@troupe/tools";
import type { Cleanup } from "../cleanup.ts";
import { openConfig } from "../config/config.ts";
import { homeFiles } from "../home/home.ts";
import { openModels } from "../models/open-models.ts";
import type { Connection } from "../nats/connection.ts";
import { findConnection } from "../nats/find-connection.ts";
import { injectClockFaults } from "./fault-injection.ts";
import { createLocalHost } from "./local-host.ts";
import { openProcess, type ProcessParts } from "./open-process.ts";
import { openRedaction } from "./redaction.ts";
import type { RunningWorker, WorkerOptions } from "./running-troupe.ts";
import { createLoggingTrust } from "./trust-notices.ts";

type Server = Extract<Connection, { kind: "server" }>;

/** A host without a service: it takes tasks of its agents, over a server that others keep. */
export async function startWorker(options: WorkerOptions, cleanup: Cleanup): Promise<RunningWorker> {
  const { home, name, env, work, workspace, notice } = options;
  const clock = injectClockFaults(env, systemClock());
  const trust = createLoggingTrust(createProjectTrust({ file: homeFiles(home).trust }), options.logger);
  const cwd = process.cwd();
  const config = await openConfig({ home, env, cwd, trust });
  const { nats } = await config.at(null);
  const connection = requireServer(findConnection({ flags: options.nats, nats, env, cwd }));
  const { redact, logger } = await openRedaction(options, config, connection);
  const models = await openModels({ config, clock, logger, loadScenario: createScenarioLoader() });
  await awaitServer(connection, options);
  const parts = await openProcess(
    {
      ...{ ...work, home, env, logger, redact, clock, models, trust, connection, notice },
      ...{ role: "worker", hostId: name, ...(workspace === null ? {} : { project: workspace }) },
    },
    cleanup,
  );
  const host = createLocalHost(parts, work, cleanup);
  cleanup.add(() => host.stop());
  await checkName(parts, options);
  await checkServed(parts, work);

  const asked = Promise.withResolvers<string>();
  await host.announce((by) => {
    logger.warn({ by }, "asked to drain");
    asked.resolve(by);
  });
  await host.start();
  const { ports, served } = parts;
  logger.info({ agents: served.ids(), capacity: work.capacity, ...ports.status() }, "worker is up");
  return {
    agents: served.ids(),
    locality: connection.locality,
    bus: () => ports.status().bus,
    warnings: ports.warnings,
    drainRequested: asked.promise,
    close: cleanup.run,
  };
}

function requireServer(connection: Connection): Server {
  if (connection.kind === "server") return connection;
  const why = connection.kind === "auto" ? "a worker starts no server of its own" : "nobody says which server";
  throw new TroupeError("USAGE", `a worker takes its tasks from a NATS server, and ${why}`, {
    fix: "troupe worker --agents AGENTS --nats nats://host:4222",
  });
}

const lookEveryMs = 2_000;

/**
 * Waits for the server, and for the streams that a daemon creates there: of machines that are started together nobody
 * says which is first. Credentials that are refused are no matter of waiting.
 */
async function awaitServer(connection: Server, { notice, signal }: WorkerOptions): Promise<void> {
  let told = "";
  const tell = (why: string): void => {
    if (why !== told) notice(`waiting: ${why}`);
    told = why;
  };
  for (;;) {
    const why = await missingOnServer(connection);
    if (why === null) return;
    tell(why);
    await delay(lookEveryMs, undefined, { signal });
  }
}

/** Null: all is there. */
async function missingOnServer({ server, namespace, settings }: Server): Promise<string | null> {
  const { servers, access, inboxPrefix } = server;
  let link: NatsLink | null = null;
  try {
    link = await openNatsLink({ servers, access, ...(inboxPrefix === undefined ? {} : { inboxPrefix }) });
    const { missing } = await checkStreams({ link, namespace, settings });
    if (missing.length === 0) return null;
    return `${link.redactedUrl} has no streams of the namespace ${namespace}; a \`troupe up --nats\` creates them`;
  } catch (error) {
    if (TroupeError.is(error) && ["UNREACHABLE", "TIMEOUT", "CLOSED"].includes(error.code)) return error.message;
    throw error;
  } finally {
    await link?.close();
  }
}

/** Two hosts of one name would answer for each other. */
async function checkName({ deps }: ProcessParts, { name, isNamed }: WorkerOptions): Promise<void> {
  if (!isNamed) return;
  const others = createHostDirectory({ ...deps, own: null });
  await others.start();
  try {
    // Asks everybody, and waits until they have answered.
    await others.serving("nobody", "nowhere");
    const taken = others.list().find(({ host, alive }) => host === name && alive);
    if (!taken) return;
    throw new TroupeError("CONFLICT", `there is a ${taken.role} called ${name} already (pid ${taken.pid})`, {
      fix: `give this one another name: --name ${name}-2`,
    });
  } finally {
    others.stop();
  }
}

/** Loads what is to be served, and refuses names that nothing here stands for. */
async function checkServed({ served }: ProcessParts, { serve }: WorkerOptions["work"]): Promise<void> {
  const registry = await served.agentSource.load(null);
  const unknown = serve === "all" ? [] : serve.filter((id) => !served.ids().includes(id));
  const [first] = unknown;
  if (first !== undefined) throw notServed(first, registry);
  if (served.ids().length > 0) return;
  throw new TroupeError("USAGE", "there is no agent here that could be served", { fix: "troupe agents ls" });
}

function notServed(id: string, { agents, find }: AgentRegistry): TroupeError {
  const own = agents.filter(({ source }) => source.origin !== "remote");
  const known = own.filter(({ disabled }) => !disabled).map((agent) => agent.id);
  const found = find(id);
  const why = found && found.source.origin !== "remote" ? "is switched off here" : "is not here";
  return new TroupeError("UNKNOWN_AGENT", `the agent ${JSON.stringify(id)} ${why}; there are: ${known.join(", ")}`, {
    fix: didYouMean(id, known) ?? "troupe agents ls",
  });
}
