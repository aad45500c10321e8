import type { Connectors } from "@troupe/connectors";
import type {
  AgentDefinition,
  DaemonStatus,
  Logger,
  ModelProvider,
  Policy,
  RequestHandler,
  TroupeError,
  TroupeService,
} from "@troupe/core";
import type { HostDeps } from "@troupe/runtime";
import type { Tool } from "@troupe/tools";
import type { Home } from "../home/home.ts";
import type { OwnedHome } from "../home/owned-home.ts";
import type { Models } from "../models/open-models.ts";
import type { NatsFlags } from "../nats/connection.ts";
import type { OwnServer } from "../nats/own-server.ts";

/** A running troupe that owns its home: journal, recorder, host, service and HTTP server. */
export interface RunningTroupe {
  /** `http://127.0.0.1:4711`, without a trailing slash. Null when no HTTP server was asked for. */
  url: string | null;
  token: string;
  service: TroupeService;
  /** The ports, for code that works below the service. */
  deps: HostDeps;
  /** The policy of this machine. */
  policy: Policy;
  models: Pick<Models, "choose" | "status">;
  /** Warnings about the NATS server, one line each. */
  warnings: readonly string[];
  /** The NATS server that was started for this home, if any. */
  ownServer: OwnServer | null;
  /** The requested port, if it was taken and `url` has another one. */
  requestedPort: number | null;
  /** From now on new sessions are refused with `CLOSING`. */
  beginClosing(): void;
  /** Resolves when no session is active, except `besides`. */
  idle(options?: { besides: string }): Promise<void>;
  /** Drains the host and flushes the recorder. Unfinished sessions continue at the next start. */
  close(): Promise<void>;
}

/** The owner of a home: a daemon, a `troupe run` that found none, or a program. */
export type OwnerKind = "daemon" | "run" | "program";

export interface StartOptions {
  /** Only the process that holds the lock can start. */
  home: OwnedHome;
  kind: OwnerKind;
  /** The HTTP API and the dashboard. Null: neither is served. */
  http: HttpOptions | null;
  env: NodeJS.ProcessEnv;
  logger: Logger;
  /** The NATS flags. */
  nats: NatsFlags;
  work: ServeOptions;
  /** Allows homes as workspaces of all sessions. @default only of sessions with `allowHome` */
  allowHome?: boolean;
  /** Parts that a program adds. */
  program?: ProgramParts;
  /** Shows the user changes of the connection. @default writes them to the log only */
  notice?: (text: string) => void;
  /**
   * Called when the journal's file may not store anything correctly any more. The process should exit without closing: the
   * next one reads the stored entries. @default every later write is rejected
   */
  onBroken?: (error: TroupeError) => void;
}

/** Models, agents and tools that a program adds to the configured ones. */
export interface ProgramParts {
  /** The model of sessions that name none. @default the configured model */
  model?: string | undefined;
  providers?: readonly ModelProvider[];
  /** Folders of agent files that override all others. */
  agentFolders?: readonly string[];
  agents?: readonly AgentDefinition[];
  /** Folders, each of one team, that override all other teams. */
  teamFolders?: readonly string[];
  /** The team of requests that name neither a team nor an agent. @default the configured team */
  team?: string | undefined;
  tools?: readonly Tool[];
  /** Connections that replace those of the home. */
  connectors?: Partial<Connectors> | undefined;
  /** Handlers of requests that need no model, beside the shipped ones. */
  handlers?: readonly RequestHandler[] | undefined;
  /** `memory`: the journal is lost when the process ends. @default "home" */
  store?: "home" | "memory";
  /** Home of policy, rules, trust, agents and tools. @default the home itself */
  settings?: Home;
}

export interface HttpOptions {
  host: string;
  /** 0 takes any free port. Otherwise this port, or the next free one of the twenty after it. */
  port: number;
  /** Folder of the built dashboard. If it is empty, the page says that it is not built. */
  assets: string;
}

/** Agents that a process serves, and how many runs at once. */
export interface ServeOptions {
  /** Agents that this process serves. */
  serve: "all" | readonly string[];
  /** Runs that can work at the same time. */
  capacity: number;
}

export interface WorkerOptions {
  /** Home of the policy, agents, tools and trust decisions. Another process can own it. */
  home: Home;
  /** Its host id. */
  name: string;
  /** True if the user chose the name. */
  isNamed: boolean;
  work: ServeOptions;
  /** A project whose agents it serves too. */
  workspace: string | null;
  nats: NatsFlags;
  env: NodeJS.ProcessEnv;
  logger: Logger;
  signal: AbortSignal;
  /** Shows the user why it waits. */
  notice(text: string): void;
}

/** A process that only runs agents: it has no service and no HTTP API. */
export interface RunningWorker {
  agents: readonly string[];
  locality: string;
  /** The bus for display. */
  bus(): string;
  warnings: readonly string[];
  /** Resolves with the name of the user who asked it to drain. */
  drainRequested: Promise<string>;
  /** Gives its runs to other hosts and stops. */
  close(): Promise<void>;
}

/** A home that no process runs. Commands are written to its journal and take effect at the next start. */
export interface OfflineTroupe {
  control: Control;
  /** Resolves when the record has every command. */
  close(): Promise<void>;
}

export type OfflineOptions = Pick<StartOptions, "home" | "env" | "logger">;

/** State of the sandbox for agents' commands. */
export type SandboxFacts = NonNullable<DaemonStatus["sandbox"]>;

/** Commands of a person on sessions and runs. */
export type Control = Pick<
  TroupeService,
  | "answer"
  | "undo"
  | "cancel"
  | "cancelRun"
  | "explain"
  | "pause"
  | "removeRule"
  | "resume"
  | "rules"
  | "sessionArchive"
  | "steer"
  | "undo"
>;
