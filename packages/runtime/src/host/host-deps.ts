import type {
  AgentSource,
  Bus,
  Clock,
  EntryBody,
  GrantLayer,
  HostDirectory,
  Journal,
  Logger,
  ModelProvider,
  Redactor,
  RunFolders,
  RunRequest,
  TaskQueue,
  ToolHost,
} from "@troupe/core";
import type {
  CollectedFiles,
  DelegationPolicy,
  InvalidMessages,
  ResolveModel,
  RunSpec,
  Subjects,
} from "@troupe/core/internal";
import type { Verifiers } from "../verifiers/verifier.ts";
import type { FailpointHook } from "./failpoints.ts";

/** All that a host needs of the world: ports and nothing else. */
export interface HostDeps {
  journal: Journal;
  queue: TaskQueue;
  bus: Bus;
  subjects: Subjects;
  models: ModelProvider;
  /** @default ids are taken as they are written */
  resolveModel?: ResolveModel;
  tools: ToolHost;
  /** What this machine's owner lets be granted here, whoever asks. @default nothing is kept from anybody */
  policyLayer?: GrantLayer;
  agentSource: AgentSource;
  /** Who else can run what. Absent: nobody but this process, which runs everything. */
  hosts?: HostDirectory;
  /** What becomes of a run that nobody can take. @default it fails at once */
  delegation?: DelegationPolicy;
  /** Where runs work that do not work in their parent's folder. Absent: there are none. */
  folders?: RunFolders;
  /** Name of the disk that workspaces of this machine are on. Absent: there is no other. */
  place?: string;
  /** How long a taken task stays a host's without a sign of it. Absent: the queue knows no leases, all live here. */
  leaseMs?: number;
  /** Counts what was sent to this process and could not be heard. */
  invalidMessages?: InvalidMessages;
  verifiers: Verifiers;
  clock: Clock;
  logger: Logger;
  failpoint: FailpointHook;
  /** Where a recorded session runs again. */
  replay?: ReplayGuide;
  /** Takes secrets out of all that is written or sent from here. @default nothing is looked for */
  redact?: Redactor;
  /** Name of this host: a token, in every entry that it writes. */
  hostId: string;
}

/** What a session that runs again takes from its record besides the answers of its models and tools. */
export interface ReplayGuide {
  /** What the run was opened with; null: it is worked out anew. */
  specOf(request: RunRequest): RunSpec | null;
  /** What of the run's own folder came back with its response. */
  collectedBy(run: string): CollectedFiles;
  /** Resolves when the record says that it is this fact's turn to be written. */
  admit(run: string, body: EntryBody): Promise<void>;
}
