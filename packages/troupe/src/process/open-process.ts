import {
  type AgentDefinition,
  type Clock,
  type DaemonStatus,
  type DiskShortage,
  type Logger,
  type Policy,
  type Redactor,
  type RequestHandler,
  TroupeError,
} from "@troupe/core";
import { createInvalidMessages, DiskPolicy, leaseMsDefault } from "@troupe/core/internal";
import { systemIds } from "@troupe/core/system";
import { openRecord, type RecordStore, startRecorder } from "@troupe/recorder";
import {
  type AgentHints,
  builtinObservers,
  builtinVerifiers,
  createServedAgents,
  createService,
  type HostDeps,
  redactBlobs,
  redactDeps,
} from "@troupe/runtime";
import type { DefaultTeam, HostFacts } from "@troupe/runtime/internal";
import {
  createDiskSpace,
  createFileRestorer,
  createRunFolders,
  createSessionFiles,
  createWorkspaceFiles,
  loadPolicy,
  openSessionUsage,
  type Sandbox,
} from "@troupe/tools";
import { type Cleanup, withTimeout } from "../cleanup.ts";
import type { ConfigSource } from "../config/config.ts";
import type { OfficeSettings } from "../config/office-settings.ts";
import { type Home, homeFiles } from "../home/home.ts";
import { selectRecord } from "../home/record.ts";
import type { Models } from "../models/open-models.ts";
import { type Connection, defaultLocality } from "../nats/connection.ts";
import { hasOffice } from "../office/home-connectors.ts";
import { needsOffice, openOfficeParts } from "../office/office-parts.ts";
import { ownVersion } from "../version.ts";
import { createProcessAgentFiles } from "./agent-files.ts";
import { createHomeAgentSource, createProjectAgentsQueue, userAgentFolders } from "./agents.ts";
import { injectFaults } from "./fault-injection.ts";
import { forgetRemoved } from "./forget-removed.ts";
import { createHostMembership, type HostMembership } from "./membership.ts";
import { openPorts } from "./ports.ts";
import { createRecordHints } from "./record-hints.ts";
import type { OwnerKind, ProgramParts, SandboxFacts } from "./running-troupe.ts";
import { createSessionArchive } from "./session-archive.ts";
import { openSandbox, openTools } from "./tools.ts";
import type { ProcessTrust } from "./trust-notices.ts";

export type ProcessParts = Awaited<ReturnType<typeof openProcess>>;

export interface ProcessOptions {
  home: Home;
  env: NodeJS.ProcessEnv;
  logger: Logger;
  hostId: string;
  clock: Clock;
  redact: Redactor;
  models: Pick<Models, "provider" | "resolve">;
  connection: Exclude<Connection, { kind: "auto" }>;
  /** Role of this process among the hosts; null if it runs no agents. */
  role: HostFacts["role"] | null;
  /** Agents that this process serves. */
  serve: "all" | readonly string[];
  /** A project whose agents it serves too, for runs of every workspace. */
  project?: string;
  /** Tokens of the list of agents that a delegating model reads. @default 2000 */
  agentListTokens?: number | undefined;
  /** Whether delegating models read how earlier runs went. Only a process with a record has hints. @default false */
  hints?: boolean;
  /** Runs that can work here at the same time. */
  capacity: number;
  /** Decides whether the tools of a project are used. */
  trust: ProcessTrust;
  /** Whose mail, calendar, contacts and channels the office tools use. */
  office: OfficeSettings;
  /** Parts that a program adds. */
  program?: ProgramParts | undefined;
  /** Shows the user changes of the connection. */
  notice?: ((text: string) => void) | undefined;
  /** Called when the file of the journal or the record may not store anything correctly any more. */
  onBroken?: ((error: TroupeError) => void) | undefined;
}

/**
 * Opens the parts that every kind of process needs: ports, policy, sandbox, tools, agents and the dependencies of a host.
 */
export async function openProcess(options: ProcessOptions, cleanup: Cleanup) {
  const { home, env, logger, hostId, clock, models, redact, trust, role, connection, serve, notice } = options;
  const { program = {} } = options;
  const settings = program.settings ?? home;
  // An unreadable policy stops the start: without it, runs could do more than the user allows.
  const policy = await loadPolicy(homeFiles(settings).policy);
  // The sandbox tests itself, which takes a moment. The stores open at the same time.
  const usage = openSessionUsage({ file: homeFiles(home).diskUsage, sessionMb: diskOf(policy).sessionMb, logger });
  const sandboxing = openSandbox({ home, policy, isUsed: role !== null, usage });
  sandboxing.catch(() => {});
  const createStreams = role !== "worker";
  const ports = await openPorts(
    {
      connection,
      home,
      hostId,
      clock,
      logger,
      createStreams,
      store: program.store,
      notice,
      onBroken: options.onBroken,
    },
    cleanup,
  );
  const { journal, queue, bus, subjects, shared } = ports;
  const blobs = redactBlobs(ports.blobs, redact);
  const sandbox = await sandboxing;
  const toolOptions = { home, settings, env, clock, logger, redact, journal, blobs, policy, sandbox, usage, trust };
  const office = openOfficeParts(
    { home: settings, settings: options.office, given: program.connectors, clock, logger },
    cleanup,
  );
  const { rules, tools } = await openTools({ ...toolOptions, tools: program.tools ?? [], office }, cleanup);

  let membership: HostMembership | null = null;
  const agentSource = createHomeAgentSource(settings, env, {
    folders: program.agentFolders ?? [],
    teamFolders: program.teamFolders ?? [],
    definitions: program.agents ?? [],
    remoteAgents: () => membership?.remoteAgents() ?? [],
    project: options.project,
    trust,
  });
  const served = createServedAgents({
    ...{ agentSource, only: serve, denied: policy.layer.denyAgents },
    accepts: (agent) => role !== "worker" || acceptsOnWorker(agent, settings),
  });
  const hints = options.hints ? createRecordHints({ clock, logger }) : null;
  const instrumented = injectFaults(env, {
    ...{ journal, bus, subjects, tools, clock, logger, hostId, redact },
    queue: shared && role ? createProjectAgentsQueue(queue, served, logger) : queue,
    models: models.provider,
    resolveModel: models.resolve,
    agentSource: shared && role ? served.agentSource : agentSource,
    delegation: policy.delegation,
    ...agentListDeps(options, hints),
    diskSpace: createDiskSpace({ home: home.path, freeMb: diskOf(policy).freeMb, logger, notice }),
    folders: createRunFolders({
      folder: homeFiles(home).runs,
      blobs,
      redact,
      keep: keepBoundsOf(policy),
      ...(shared ? { locality: shared.locality } : {}),
    }),
    policyLayer: policy.layer,
    invalidMessages: createInvalidMessages(),
    handlers: handlersByName(office.handlers, program.handlers ?? []),
    verifiers: builtinVerifiers,
    observers: { named: builtinObservers, files: createWorkspaceFiles() },
    ...(shared ? { locality: shared.locality, leaseMs: shared.leaseMs } : {}),
  });
  const deps: HostDeps = redactDeps(instrumented);
  // An embedded process is listed as a host too; only a shared one depends on other hosts.
  if (shared || role)
    membership = createHostMembership({ ...options, deps, shared: shared ?? embeddedDefaults(), served });
  if (shared && membership) deps.hosts = membership.hosts;
  const userFolders = userAgentFolders(settings, env);
  const files = { source: agentSource, userFolders, tools, policy, trust, now: () => clock.now() };
  return { home, deps, blobs, ports, policy, rules, sandbox, served, hints, files, presence: membership };
}

/** Without an office of its own, a worker would answer from an empty one. */
function acceptsOnWorker(agent: AgentDefinition, settings: Home): boolean {
  return hasOffice(settings) || !needsOffice(agent);
}

/** Throws `USAGE` if a handler of the program has the name of another one. */
function handlersByName(shipped: readonly RequestHandler[], own: readonly RequestHandler[]) {
  const byName = new Map(shipped.map((handler) => [handler.name, handler]));
  for (const handler of own) {
    if (byName.has(handler.name)) {
      throw new TroupeError("USAGE", `the handler ${JSON.stringify(handler.name)} exists already`, {
        fix: "give the handler another name",
      });
    }
    byName.set(handler.name, handler);
  }
  return byName;
}

/** Settings of the list of agents that delegating models read. */
function agentListDeps(
  { agentListTokens }: ProcessOptions,
  agentHints: AgentHints | null,
): Pick<HostDeps, "agentListTokens" | "agentHints"> {
  return { ...(agentListTokens === undefined ? {} : { agentListTokens }), ...(agentHints ? { agentHints } : {}) };
}

const bytesOfMb = 1024 * 1024;

/** The policy's limits of kept contents. */
function keepBoundsOf({ savedFiles }: Policy) {
  if (!savedFiles) return {};
  return { fileBytesMax: savedFiles.fileMb * bytesOfMb, bytesMax: savedFiles.totalMb * bytesOfMb };
}

function embeddedDefaults(): { locality: string; leaseMs: number } {
  return { locality: defaultLocality(), leaseMs: leaseMsDefault };
}

function diskOf({ disk }: Policy): DiskPolicy {
  return disk ?? DiskPolicy.parse(undefined);
}

/** Opens the record and starts the recorder that follows the journal. */
export async function openRecording(
  { home, ports }: ProcessParts,
  { logger, onBroken = () => {} }: Pick<ProcessOptions, "logger" | "onBroken">,
  cleanup: Cleanup,
) {
  const { journal, shared } = ports;
  await selectRecord(home, shared ? `nats-${shared.namespace}` : "embedded");
  const record = await openRecord({ file: homeFiles(home).record });
  cleanup.add(() => record.close());
  refuseReadOnly(record);
  await forgetRemoved(journal, record);
  let wasReady = false;
  const recorder = startRecorder({
    journal,
    record,
    ...(shared ? { foreignJournalError: streamLost } : {}),
    onError: ({ cause, message, ...where }) => {
      logger.error({ ...where, err: cause }, message);
      // The journal has every entry, but without a record no person sees or answers anything.
      if (where.kind === "stopped" && wasReady && isDamage(cause)) onBroken(cause);
    },
  });
  cleanup.add(() => waitForServer(shared, recorder.stop()));
  const caughtUp = async (): Promise<void> => {
    const reading = recorder.caughtUp();
    await waitForServer(shared, reading).catch((err) => logger.error({ err }, "the record is behind the journal"));
  };
  // Rejects if the journal is another one than the recorded one, before any run starts.
  await waitForServer(shared, recorder.ready());
  wasReady = true;
  return { record, recorder, caughtUp };
}

/** A recorder waits for a full disk and for a lock, but no wait makes a file writable. */
function refuseReadOnly(record: RecordStore): void {
  try {
    record.checkWritable();
  } catch (thrown) {
    if (TroupeError.is(thrown) && thrown.code === "HOME_UNWRITABLE") throw thrown;
  }
}

function isDamage(cause: unknown): cause is TroupeError {
  return TroupeError.is(cause) && cause.code === "DATABASE_DAMAGED";
}

/** The error for a stream that is not the recorded one. */
const streamLost = {
  code: "JOURNAL_LOST",
  fix: "troupe nats restore   # copies the recorded sessions back; or start over: mv troupe.db troupe.old.db",
} as const;

/** Longest wait for the NATS server while this process closes or starts. */
const sharedEndMs = 5_000;

function waitForServer(shared: unknown, work: Promise<unknown>): Promise<unknown> {
  return shared === null ? work : withTimeout(sharedEndMs, work);
}

export interface ProcessServiceOptions {
  kind: OwnerKind;
  models: Pick<Models, "choose" | "status">;
  startedAt: string;
  record: Awaited<ReturnType<typeof openRecording>>["record"];
  /** The team of requests that name neither a team nor an agent, by folder. */
  defaultTeam?: DefaultTeam | undefined;
  allowHome?: boolean | undefined;
  /** Checks the models that agent files name. @default they are not checked */
  config?: ConfigSource | null;
}

/** Creates the service that the HTTP API, the command line and programs call. */
export function createProcessService(
  parts: ProcessParts,
  { kind, models, startedAt, record, defaultTeam, allowHome = false, config = null }: ProcessServiceOptions,
) {
  const { home, deps, blobs, policy, rules, sandbox, ports, files, presence: membership } = parts;
  return createService({
    deps,
    restorer: createFileRestorer({ blobs }),
    ...(membership ? { hosts: membership.hosts } : {}),
    record: record.reader,
    agentFiles: createProcessAgentFiles({ ...files, config }),
    sessionFiles: createSessionFiles({
      memoryFolder: homeFiles(home).memory,
      ...{ blobs, clock: deps.clock },
      workspaceOf: async (session) => (await record.reader.session(session))?.session.workspace ?? null,
    }),
    sessionArchive: createSessionArchive({ home, deps, journal: ports.journal, blobs: ports.blobs, record }),
    rules,
    policy,
    allowHome,
    ids: systemIds(),
    workspaces: homeFiles(home).workspaces,
    model: models.choose,
    ...(defaultTeam ? { defaultTeam } : {}),
    resolveScenario: async (name) => (await models.choose({ model: `scripted/${name}`, workspace: null })).id,
    status: () => ({
      version: ownVersion(),
      pid: process.pid,
      home: home.path,
      kind: hostRole(kind),
      ...ports.status(),
      ...models.status,
      sandbox: sandboxFacts(sandbox),
      ...warningsField(deps.diskSpace?.current() ?? []),
      startedAt,
    }),
  });
}

function warningsField(shortages: readonly DiskShortage[]): Pick<DaemonStatus, "warnings"> {
  if (shortages.length === 0) return {};
  return { warnings: shortages.map(({ message }) => `calls that may write wait: ${message}`) };
}

export function sandboxFacts({ kind, contains, detail, fix }: Sandbox): SandboxFacts {
  return { kind, contains, detail, fix };
}

/** The kind of a process in its status and its host announcement; a program counts as a `run`. */
export function hostRole(kind: OwnerKind): "daemon" | "run" {
  return kind === "daemon" ? "daemon" : "run";
}
