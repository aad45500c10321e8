import type { AgentDefinition, DaemonStatus, Logger, ModelProvider, Policy, TroupeService } from "@troupe/core";
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

/** The owner of a home: a daemon, a `troupe run` that found none, or a program. */
export type OwnerKind = "daemon" | "run" | "program";

export interface StartOptions {
  /** Held: only whoever has the lock can start. */
  home: OwnedHome;
  kind: OwnerKind;
  /** The HTTP API and the dashboard. Null: neither is served. */
  http: HttpOptions | null;
  env: NodeJS.ProcessEnv;
  logger: Logger;
  /** How it is to be connected with others, as far as flags say. */
  nats: NatsFlags;
  work: ServeOptions;
  /** The parts that a program adds. */
  program?: ProgramParts;
  /** Tells people what becomes of the connection to others. @default only the log does */
  notice?: (text: string) => void;
}

/** What a program adds to the configured models, agents and tools. */
export interface ProgramParts {
  /** The model of sessions that name none. @default the configured one */
  model?: string | undefined;
  providers?: readonly ModelProvider[];
  /** Folders of agent files, which win over all others. */
  agentFolders?: readonly string[];
  agents?: readonly AgentDefinition[];
  tools?: readonly Tool[];
  /** `memory`: nothing is kept. @default "home" */
  store?: "home" | "memory";
  /** Home of policy, rules, trust, agents and tools. @default the home itself */
  settings?: Home;
}

export interface HttpOptions {
  host: string;
  /** 0: any free port. Otherwise this port, or the next free one of the twenty after it. */
  port: number;
  /** Folder of the built dashboard. Without one, the page says that it is not built. */
  assets: string;
}

/** The work of a process. */
export interface ServeOptions {
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
  work: ServeOptions;
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
  locality: string;
  /** As it is now, in words. */
  bus(): string;
  warnings: readonly string[];
  /** Resolves with whoever has asked it to leave. */
  drainRequested: Promise<string>;
  /** Leaves what is at work to others, and goes. */
  close(): Promise<void>;
}

/** A home without anybody who runs what is in it: wishes are kept in its journal until somebody does. */
export interface OfflineTroupe {
  control: Control;
  /** When it resolves, the record has what was done. */
  close(): Promise<void>;
}

export type OfflineOptions = Pick<StartOptions, "home" | "env" | "logger">;

/** How commands of agents are kept. */
export type SandboxFacts = NonNullable<DaemonStatus["sandbox"]>;

/** What people can do about sessions that are under way. */
export type Control = Pick<
  TroupeService,
  "answer" | "cancel" | "cancelRun" | "explain" | "pause" | "removeRule" | "resume" | "rules" | "steer"
>;
