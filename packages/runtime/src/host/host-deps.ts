import type {
  AgentSource,
  Bus,
  Clock,
  DiskSpace,
  EntryBody,
  GrantLayer,
  HostDirectory,
  Journal,
  Logger,
  ModelProvider,
  Redactor,
  RequestHandler,
  RunFolders,
  RunRequest,
  TaskQueue,
  ToolHost,
} from "@troupe/core";
import type {
  CollectedFiles,
  DelegationPolicy,
  ForkedFrom,
  InvalidMessages,
  ResolveModel,
  RunFolder,
  RunSpec,
  Subjects,
} from "@troupe/core/internal";
import type { ObserverFiles, Observers } from "../observers/observer.ts";
import type { Verifiers } from "../verifiers/verifier.ts";
import type { FailpointHook } from "./failpoints.ts";

/** The ports and settings of a host. `createTroupe()` of the package `troupe` puts them together. */
export interface HostDeps {
  journal: Journal;
  queue: TaskQueue;
  bus: Bus;
  subjects: Subjects;
  models: ModelProvider;
  /** Turns a model name of an agent file into a model id. @default names are used as ids */
  resolveModel?: ResolveModel;
  tools: ToolHost;
  /** The policy of this machine's owner. It limits every run on this host. @default no limits */
  policyLayer?: GrantLayer;
  agentSource: AgentSource;
  /** The other hosts and the agents that they serve. Absent: this process is the only host and runs every agent. */
  hosts?: HostDirectory;
  /** Tokens of the list of agents that a delegating model reads. @default 2000 */
  agentListTokens?: number;
  /** Hints about earlier runs of the agents, for delegating models. @default no hints */
  agentHints?: AgentHints;
  /** Whether a run that no host can take fails or waits for a host. @default it fails at once */
  delegation?: DelegationPolicy;
  /** The folders of worktree and isolated runs. Absent: such runs fail. */
  folders?: RunFolders;
  /** The free space of this machine's disks. Absent: no call waits for space. */
  diskSpace?: DiskSpace;
  /** Name of the disk with this machine's workspaces. Absent: all hosts see the same disk. */
  locality?: string;
  /** Lease of a taken task. Absent: the queue has no leases, because this process is its only host. */
  leaseMs?: number;
  /** Counts the invalid messages that this process received. */
  invalidMessages?: InvalidMessages;
  /** Handlers of requests that need no model, by name. @default none */
  handlers?: ReadonlyMap<string, RequestHandler>;
  verifiers: Verifiers;
  /** Observers of agents' calls, and their access to files. Absent: no calls are observed. */
  observers?: { named: Observers; files: ObserverFiles };
  clock: Clock;
  logger: Logger;
  failpoint: FailpointHook;
  /** Present when the host replays a recorded session. */
  replay?: ReplayGuide;
  /** Removes secrets from everything that the host writes or sends. @default nothing is removed */
  redact?: Redactor;
  /** Name of this host: a subject token, stored in every entry that the host writes. */
  hostId: string;
}

/** Hints about agents, for the specs of new runs. */
export interface AgentHints {
  /** Answers at once from memory, so that it neither delays nor fails the start of a run. Undefined: too few runs. */
  hintFor(pair: { parent: string; agent: string }): string | undefined;
}

/** The recorded facts that a replayed session uses, besides the results of its models and tools. */
export interface ReplayGuide {
  /** The recorded spec of the run; null: the host resolves it again. */
  specOf(request: RunRequest): RunSpec | null;
  /** The origin in the recorded claim at this index, if it begins a fork. */
  forkedFrom(run: string, index: number): ForkedFrom | null;
  /** A folder that gives the recorded facts about files, and that no effect touches. */
  folderOf(request: RunRequest): RunFolder;
  /** The files that the recorded run collected from its folder. */
  collectedBy(run: string): CollectedFiles;
  /** Resolves when the record reaches this entry: entries are written in the recorded order. */
  admit(run: string, body: EntryBody): Promise<EntryBody>;
}
