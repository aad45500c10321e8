import type { AgentDefinition, AgentRegistry, Blobs, FeedItem, GrantLayer, RecordReader, ToolSpec } from "@troupe/core";
import type {
  AgentProblem,
  ApprovalRule,
  CommandPolicy,
  SavedFilesPolicy,
  TeamSummary,
  WebhookRow,
} from "@troupe/core/internal";
import type { IntegrityReport } from "@troupe/recorder";
import type { Replayed } from "@troupe/runtime";
import type {
  Config,
  ConfigOptions,
  RunningTroupe as CoreRunningTroupe,
  StartOptions as CoreStartOptions,
  Home,
  ModelAccess,
  OfflineOptions,
  OfflineTroupe,
  RunningWorker,
  SandboxFacts,
  WorkerOptions,
} from "troupe/internal";
import type { HostWatch, HostWatchOptions } from "./nats/list-hosts.ts";
import type { NatsCheckOptions, NatsFacts } from "./nats/server.ts";
import type { StreamMaintenance } from "./nats/stream-maintenance.ts";
import type { TroupeClient } from "./session/client.ts";
import type { Interrupts } from "./terminal/interrupts.ts";
import type { Keyboard } from "./terminal/keyboard.ts";
import type { PipedInput } from "./terminal/piped-input.ts";
import type { Processes } from "./terminal/processes.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The environment of a command: every part of the process that it uses. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  cwd: string;
  home: Home;
  version: string;
  terminal: Terminal;
  stdin: PipedInput;
  keyboard: Keyboard;
  interrupts: Interrupts;
  composition: Composition;
  /** Wall clock in milliseconds. */
  now(): number;
  processes: Processes;
  /** Opens a page in the browser; false if no browser could be started. */
  openPage(url: string): Promise<boolean>;
}

/** The functions of other packages that commands use. `composition.ts` is the real implementation; tests have a fake one. */
export interface Composition {
  start: StartTroupe;
  startWorker(options: WorkerOptions): Promise<RunningWorker>;
  /** Queries the hosts on a server; null if no server is configured. */
  watchHosts(options: HostWatchOptions): Promise<HostWatch | null>;
  /** Checks the configured NATS server and changes nothing; null if none is configured. */
  checkNats(options: NatsCheckOptions): Promise<NatsFacts | null>;
  /** Maintenance of the streams on a server. */
  streams: StreamMaintenance;
  /** Damaged entries and forked runs in a home's record; null if there is no record. */
  readIntegrity(home: Home): Promise<IntegrityReport | null>;
  /** Opens the journal and record of a home without a host and a server. */
  openOffline(options: OfflineOptions): Promise<OfflineTroupe>;
  connect(address: { url: string; token: string }): TroupeClient;
  /** Creates the client of a troupe in this process. It calls the service directly. */
  createLocalClient(troupe: RunningTroupe): Promise<TroupeClient>;
  /** Opens the record for reading; null if there is none yet. */
  openReader(home: Home): Promise<RecordArchive | null>;
  /** Rejects with `INVALID_POLICY`. Without a file it returns the default policy. */
  readPolicy(home: Home): Promise<HomePolicy>;
  /** Tests the sandbox that the policy selects. */
  readSandbox(home: Home): Promise<SandboxFacts>;
  /** The settings of a folder, each with its origin. Rejects with `INVALID_CONFIG`. */
  readConfig(options: ConfigOptions): Promise<Config>;
  openModels(config: Config): Promise<ModelAccess>;
  /** The stored approval rules. Needs no running troupe. */
  readRules(home: Home): Promise<ApprovalRule[]>;
  /** The webhooks of a home, from its file; none without a file. Needs no running troupe. */
  readWebhooks(home: Home): Promise<WebhookRow[]>;
  /** A new id for a session or a turn. */
  newId(): string;
  /**
   * Replays a recorded session offline, with the agents and tools of then or the current ones. Needs no running troupe, and
   * can run beside one.
   */
  replay(options: { home: Home; session: string; current: boolean; env: NodeJS.ProcessEnv }): Promise<Replayed>;
  /** All items of a session, from the home's files. Needs no running troupe, and can run beside one. */
  readFeed(home: Home, session: string): Promise<FeedItem[]>;
  /** The blobs of the home. */
  openBlobs(home: Home): Promise<Pick<Blobs, "get">>;
  /** The agents of a workspace. Needs no running troupe. */
  loadAgents(options: { home: Home; workspace: string | null; env: NodeJS.ProcessEnv }): Promise<AgentRegistry>;
  /** Checks agent files and folders of them. */
  validateAgents(
    paths: readonly string[],
    options: { tools: readonly ToolSpec[] },
  ): Promise<{ agents: AgentDefinition[]; problems: AgentProblem[] }>;
  /** The tools of this machine and of a folder: the shipped ones, and those of the user and of a trusted project. */
  toolSpecs(options: { home: Home; workspace: string | null; env: NodeJS.ProcessEnv }): Promise<readonly ToolSpec[]>;
  /** Checks teams, folders of them, and projects. */
  validateTeams(
    paths: readonly string[],
    options: { tools: readonly ToolSpec[] },
  ): Promise<{ teams: TeamSummary[]; problems: AgentProblem[] }>;
  /** The newest database versions (`user_version`) that this build can read. */
  storeVersions(): Promise<{ journal: number; record: number }>;
}

/** The command line always serves HTTP, because other commands of the same home connect to it. */
export interface StartOptions extends Omit<CoreStartOptions, "http"> {
  host: string;
  /** 0 takes any free port. Otherwise this port, or the next free one. */
  port: number;
}

export interface RunningTroupe extends Omit<CoreRunningTroupe, "url" | "deps" | "policy" | "models"> {
  /** `http://127.0.0.1:4711`, without a trailing slash. */
  url: string;
}

export type StartTroupe = (options: StartOptions) => Promise<RunningTroupe>;

/** The record, opened for reading while no process owns the home. */
export type RecordArchive = RecordReader & { close(): Promise<void> | void };

/** The grant layer of a home's `policy.yaml`, and warnings about unknown names in it. */
export interface HomePolicy {
  layer: GrantLayer;
  warnings: string[];
  /** Free space that has to stay on a disk, in MB. Absent or null: the default. */
  freeMb?: number | null;
  /** Its values about files that commands change. Absent: they are not known. */
  files?: FilePolicy;
}

/** The policy for commands that lose files, and the limits of copies of files. */
export interface FilePolicy {
  loss: CommandPolicy["loss"];
  savedFiles: SavedFilesPolicy;
}
