import type {
  AgentDefinition,
  AgentRegistry,
  ApprovalRow,
  ChangeRow,
  DaemonStatus,
  GrantLayer,
  LiveEvent,
  ModelProvider,
  RecordReader,
  RunResponse,
  SessionDetail,
  SessionRow,
  SubmitSession,
  TroupeService,
} from "@troupe/core";
import type { AgentList, AgentProblem, ApprovalRule, RecordChange, Submitted } from "@troupe/core/internal";
import type { ModelTrap, ProviderSettings } from "@troupe/models";
import type { IntegrityReport } from "@troupe/recorder";
import type { Replayed } from "@troupe/runtime";
import type { Logger } from "pino";
import type { Config, ConfigOptions } from "./config/config.ts";
import type { Home } from "./home.ts";
import type { NatsFlags } from "./nats/connection.ts";
import type { StreamMaintenance } from "./nats/stream-care.ts";
import type { OwnedHome } from "./owned-home.ts";

/** A running troupe that owns its home: journal, recorder, host, service and HTTP server. */
export interface RunningTroupe {
  /** `http://127.0.0.1:4711`, without a slash at its end. */
  url: string;
  token: string;
  service: TroupeService;
  /** What people should know of the server that this is connected to, one line each. */
  warnings: readonly string[];
  /** The server that was started for this home, where there is one. */
  ownServer: OwnServer | null;
  /** The port that was asked for, where it was taken and `url` has another one. */
  requestedPort: number | null;
  /** Refuses new sessions with `CLOSING` from now on. */
  beginClosing(): void;
  /** Resolves when no session is active, but for one that whoever waits has given up on. */
  idle(options?: { besides: string }): Promise<void>;
  /** Graceful: drains the host, flushes the recorder. Sessions that are not settled go on at the next start. */
  close(): Promise<void>;
}

/** A NATS server of one's own, as others can use it. */
export interface OwnServer {
  url: string;
  /** A NATS context with its credentials, for this user only. */
  contextFile: string;
}

/** Who owns a home: a daemon, or a `troupe run` that found none. */
export type OwnerKind = "daemon" | "run";

export interface StartOptions {
  /** Held: only whoever has the lock can start. */
  home: OwnedHome;
  kind: OwnerKind;
  host: string;
  /** 0: any free one. Otherwise the next free one from here. */
  port: number;
  env: NodeJS.ProcessEnv;
  logger: Logger;
  /** How it is to be connected with others, as far as flags say. */
  nats: NatsFlags;
  work: Work;
  /** Tells people what becomes of the connection to others. @default only the log does */
  notice?: (text: string) => void;
}

/** What a process is to run. */
export interface Work {
  /** Agents that it serves. */
  serve: "all" | readonly string[];
  /** How many runs may be at work at once. */
  capacity: number;
}

export interface WorkerOptions {
  /** Where policy, agents, tools and trust come from. Others may own it. */
  home: Home;
  /** Its name among all hosts. */
  name: string;
  /** Whether somebody has chosen that name. */
  isNamed: boolean;
  work: Work;
  /** A folder whose own agents it serves as well. */
  workspace: string | null;
  nats: NatsFlags;
  env: NodeJS.ProcessEnv;
  logger: Logger;
  signal: AbortSignal;
  /** Tells people what it waits for. */
  notice(text: string): void;
}

/** A process that takes tasks of its agents, and nothing else. */
export interface RunningWorker {
  agents: readonly string[];
  place: string;
  /** As it is now, in words. */
  bus(): string;
  warnings: readonly string[];
  /** Resolves with whoever has asked it to leave. */
  asked: Promise<string>;
  /** Leaves what is at work to others, and goes. */
  close(): Promise<void>;
}

export type StartTroupe = (options: StartOptions) => Promise<RunningTroupe>;

/** What a subscriber of one session is sent. `resync`: too much was missed, load the session anew. */
export type ClientEvent =
  | { type: "change"; change: RecordChange }
  | { type: "live"; event: LiveEvent }
  | { type: "resync" };

/** What people can do about sessions that are under way. */
export type Control = Pick<
  TroupeService,
  "answer" | "cancel" | "cancelRun" | "explain" | "pause" | "removeRule" | "resume" | "rules" | "steer"
>;

/** The HTTP API of a running troupe, as far as the command line needs it. */
export interface TroupeClient extends Control, Pick<TroupeService, "hosts" | "drainHost"> {
  status(): Promise<DaemonStatus>;
  agents(workspace: string | null): Promise<AgentList>;
  submit(request: SubmitSession): Promise<Submitted>;
  /** Newest first, and the position that the record has reached. At most 500. */
  sessions(options: { limit: number }): Promise<{ position: number; sessions: SessionRow[] }>;
  /** Null, or `UNKNOWN_SESSION`, for one that the record does not have (yet). */
  session(session: string): Promise<SessionDetail | null>;
  response(session: string): Promise<RunResponse | null>;
  /** What was done to files, oldest first; `next` is null with the last page. */
  changes(of: { session: string }, options: { after: number }): Promise<{ changes: ChangeRow[]; next: number | null }>;
  /** Oldest first. */
  approvals(options: { waiting: boolean; limit: number }): Promise<{ position: number; approvals: ApprovalRow[] }>;
  events(options: { session: string; after: number; signal: AbortSignal }): AsyncIterable<ClientEvent>;
}

/** The record, opened for reading while nobody owns the home. */
export type RecordArchive = RecordReader & { close(): Promise<void> | void };

/** A home without anybody who runs what is in it: wishes are kept in its journal until somebody does. */
export interface OfflineTroupe {
  control: Control;
  /** When it resolves, the record has what was done. */
  close(): Promise<void>;
}

export type OfflineOptions = Pick<StartOptions, "home" | "env" | "logger">;

/** What a home's `policy.yaml` says about tools and agents, and names in it that nothing here has. */
export interface HomePolicy {
  layer: GrantLayer;
  warnings: string[];
}

/** How commands of agents are kept. */
export type SandboxFacts = NonNullable<DaemonStatus["sandbox"]>;

/** The models of a configuration, for whoever looks at them or tries one out: nothing is retried. */
export interface ModelAccess {
  provider: ModelProvider;
  /** The names that a provider's server lists. Fails with a `RunFailure`. */
  list(settings: ProviderSettings, options: { timeoutMs: number }): Promise<string[]>;
  /** What a server of one's own says of a model that stands in the way of an agent. Never fails. */
  traps(settings: ProviderSettings, model: string): Promise<ModelTrap[]>;
}

export interface HostWatchOptions extends NatsCheckOptions {
  nats: NatsFlags;
}

/** The hosts on a server, for somebody who is none. */
export interface HostWatch extends Pick<TroupeService, "hosts" | "drainHost"> {
  /** Without credentials. */
  server: string;
  close(): Promise<void>;
}

export interface NatsCheckOptions {
  home: Home;
  env: NodeJS.ProcessEnv;
  cwd: string;
}

/** What was found at a server. */
export interface NatsFacts {
  /** Without credentials. */
  server: string;
  version: string;
  namespace: string;
  warnings: string[];
}

/** All that the commands need of the other packages. `compose.ts` is the one real implementation. */
export interface Composition {
  start: StartTroupe;
  startWorker(options: WorkerOptions): Promise<RunningWorker>;
  /** Asks the hosts on a server who they are; null where no server is named. */
  watchHosts(options: HostWatchOptions): Promise<HostWatch | null>;
  /** Looks at the server that is configured, and changes nothing; null where there is none. */
  checkNats(options: NatsCheckOptions): Promise<NatsFacts | null>;
  /** What a person does about the streams of a server. */
  streams: StreamMaintenance;
  /** Entries that a home's record set aside, and runs of which it has two lines; null where nobody can tell. */
  readFlaws(home: Home): IntegrityReport | null;
  /** The same journal and record without a host and a server. */
  rest(options: OfflineOptions): Promise<OfflineTroupe>;
  connect(address: { url: string; token: string }): TroupeClient;
  /** Null when there is no record yet. Never writes. */
  openReader(home: Home): Promise<RecordArchive | null>;
  /** Fails with `INVALID_POLICY`. Without a file it is the default one. */
  readPolicy(home: Home): Promise<HomePolicy>;
  /** How commands would be kept under that policy, tried out. */
  readSandbox(home: Home): Promise<SandboxFacts>;
  /** What is configured in a folder, and where it was said. Fails with `INVALID_CONFIG`. */
  readConfig(options: ConfigOptions): Promise<Config>;
  openModels(config: Config): ModelAccess;
  /** The stored answers to requests for approval. Needs no running troupe. */
  readRules(home: Home): Promise<ApprovalRule[]>;
  /** An id for a session or a turn that is to be submitted. */
  newId(): string;
  /**
   * Runs a session that the home's journal has again, offline: with the agents and tools that its runs were opened with,
   * or with those of today. Needs no running troupe, and disturbs none.
   */
  replay(options: { home: Home; session: string; current: boolean; env: NodeJS.ProcessEnv }): Promise<Replayed>;
  /** The agents as seen from a workspace. Needs no running troupe. */
  loadCompany(options: { home: Home; workspace: string | null; env: NodeJS.ProcessEnv }): Promise<AgentRegistry>;
  /** Lints agent files and folders of them. */
  validateAgents(paths: readonly string[]): Promise<{ agents: AgentDefinition[]; problems: AgentProblem[] }>;
  /** The newest `user_version` of each database that this build can read. */
  storeVersions: { journal: number; record: number };
}
