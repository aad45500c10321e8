import type { DaemonStatus, Logger, ModelProvider, TroupeService } from "@troupe/core";
import type { ModelTrap, ProviderSettings } from "@troupe/models";
import type { Home } from "../home/home.ts";
import type { OwnedHome } from "../home/owned-home.ts";
import type { NatsFlags } from "../nats/connection.ts";

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

/** The models of a configuration, for whoever looks at them or tries one out: nothing is retried. */
export interface ModelAccess {
  provider: ModelProvider;
  /** The names that a provider's server lists. Fails with a `RunFailure`. */
  list(settings: ProviderSettings, options: { timeoutMs: number }): Promise<string[]>;
  /** What a server of one's own says of a model that stands in the way of an agent. Never fails. */
  traps(settings: ProviderSettings, model: string): Promise<ModelTrap[]>;
}
