import type { AgentDefinition, AgentRegistry, GrantLayer, RecordReader } from "@troupe/core";
import type { AgentProblem, ApprovalRule } from "@troupe/core/internal";
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
import type { Terminal } from "./terminal/terminal.ts";

/** The world that a command runs in: everything of the process that it touches. */
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
  /** Wall clock, in ms. */
  now(): number;
  /** Shows a page to the user; false when nothing could be started. */
  openPage(url: string): Promise<boolean>;
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
  readIntegrity(home: Home): IntegrityReport | null;
  /** The same journal and record without a host and a server. */
  openOffline(options: OfflineOptions): Promise<OfflineTroupe>;
  connect(address: { url: string; token: string }): TroupeClient;
  /** The client of a troupe in this process, which calls its service directly. */
  createLocalClient(troupe: RunningTroupe): TroupeClient;
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
  loadAgents(options: { home: Home; workspace: string | null; env: NodeJS.ProcessEnv }): Promise<AgentRegistry>;
  /** Lints agent files and folders of them. */
  validateAgents(paths: readonly string[]): Promise<{ agents: AgentDefinition[]; problems: AgentProblem[] }>;
  /** The newest `user_version` of each database that this build can read. */
  storeVersions: { journal: number; record: number };
}

/** The command line always serves HTTP: other commands of the same home talk to it. */
export interface StartOptions extends Omit<CoreStartOptions, "http"> {
  host: string;
  /** 0: any free port. Otherwise this port, or the next free one. */
  port: number;
}

export interface RunningTroupe extends Omit<CoreRunningTroupe, "url" | "deps" | "policy" | "models"> {
  /** `http://127.0.0.1:4711`, without a trailing slash. */
  url: string;
}

export type StartTroupe = (options: StartOptions) => Promise<RunningTroupe>;

/** The record, opened for reading while nobody owns the home. */
export type RecordArchive = RecordReader & { close(): Promise<void> | void };

/** What a home's `policy.yaml` says about tools and agents, and names in it that nothing here has. */
export interface HomePolicy {
  layer: GrantLayer;
  warnings: string[];
}
