import type { Connectors } from "@troupe/connectors";
import type {
  AgentDefinition,
  ApprovalAnswer,
  ApprovalRow,
  Duration,
  LiveEvent,
  Logger,
  ModelProvider,
  PartialBudget,
  RequestHandler,
  RunResponse,
  SubmitSession,
} from "@troupe/core";
import type { Tool } from "@troupe/tools";
import type { z } from "zod";

/**
 * An agent as an object: an id, a description that says when to ask it, and its prompt. All other fields are those of an
 * agent file.
 */
export type AgentInput = Omit<z.input<typeof AgentDefinition>, "name" | "source"> & { name?: string };

/** Options of `createTroupe`. Every one is optional. */
export interface TroupeOptions {
  /** Model of agents that name none: `sonnet`, or `provider/model`. @default the configured model */
  model?: string;
  /** Agent files, folders of them, or objects. They win over shipped agents and the user's own. @default none */
  agents?: readonly (string | AgentInput)[];
  /** The team of requests that name neither a team nor an agent. @default the configured team */
  team?: string;
  /** Folders, each of one team: a `team.yaml` and agent files. They win over all other teams. @default none */
  teams?: readonly string[];
  /** Tools made with `defineTool`, beside the shipped ones. @default none */
  tools?: readonly Tool[];
  /**
   * Mail, calendar, contacts and channels of the office tools, such as those of `openLocalOffice`. A domain that is not given
   * keeps the connection of the home. @default the connected accounts of the home, else its local office
   */
  connectors?: Partial<Connectors>;
  /** Handlers of requests that need no model, for agents that name them. @default the handlers of the office alone */
  handlers?: readonly RequestHandler[];
  /** Folder that agents work in. @default process.cwd() */
  workspace?: string;
  /** Allows a home, or a folder above one, as the workspace. @default false */
  allowHome?: boolean;
  /** `memory`: nothing outlives `close()`. `home`: sessions survive a kill and go on at the next start. @default "home" */
  store?: "home" | "memory";
  /** Folder of all state. @default TROUPE_HOME, else the folder `troupe` in the user's data folder */
  home?: string;
  /** Shares the work with other machines. @default everything runs in this process */
  nats?: NatsOptions;
  /** Serves the HTTP API on loopback, so that `troupe` commands can watch. @default false */
  http?: boolean | { port?: number };
  /** Model providers made by the program, beside the configured ones. @default none */
  providers?: readonly ModelProvider[];
  /** Budget of each request, for the root run and everything below it. @default 200 runs */
  budget?: PartialBudget;
  /** Runs that work at once. @default 64 */
  capacity?: number;
  /** Answers requests for approval. Undefined leaves a request waiting for `approve` or `deny`. */
  onApproval?: (approval: ApprovalRow) => ApprovalDecision | undefined | Promise<ApprovalDecision | undefined>;
  /** @default logs nothing */
  logger?: Logger;
  /** Environment variables: keys, TROUPE_HOME, TROUPE_MODEL, TROUPE_TEAM. @default process.env */
  env?: NodeJS.ProcessEnv;
}

/** How to reach the NATS server of the other machines. */
export interface NatsOptions {
  /** `nats://host:4222`, several with commas, or `auto` for a server that this process starts. */
  url?: string;
  /** A context of the NATS command line; `true` for the selected one. */
  context?: string | true;
  namespace?: string;
  /** Name of the disk that the workspaces are on. */
  locality?: string;
  /** How long a task stays with a host that died. */
  leaseMs?: Duration;
}

/** `approve` and `deny` answer one request; an object says more (`scope: "run"`, `reason`). */
export type ApprovalDecision = "approve" | "deny" | (Partial<z.input<typeof ApprovalAnswer>> & { approved: boolean });

/** Options of one request. */
export interface RunOptions
  extends Partial<
    Pick<
      z.input<typeof SubmitSession>,
      | "agent"
      | "team"
      | "model"
      | "workspace"
      | "allowHome"
      | "context"
      | "continues"
      | "budget"
      | "limits"
      | "grant"
      | "timeoutMs"
      | "userId"
      | "session"
    >
  > {
  /** Cancels the session when it aborts. */
  signal?: AbortSignal;
  /** Called for each event of the session. */
  onEvent?: (event: TroupeEvent) => void;
}

type LiveFields<E> = E extends LiveEvent ? Omit<E, "v" | "kind"> & { type: E["kind"] } : never;

/** An event of a session, in the order in which this process sees it. */
export type TroupeEvent =
  | { type: "session.started"; session: string; run: string; workspace: string }
  | LiveFields<LiveEvent>
  | { type: "approval.requested"; session: string; run: string; approval: ApprovalRow }
  | { type: "session.settled"; session: string; run: string; response: RunResponse };

/** `TroupeOptions` after the check, with all durations in milliseconds. */
export type CheckedOptions = Omit<TroupeOptions, "nats"> & {
  nats?: Omit<NatsOptions, "leaseMs"> & { leaseMs?: number };
};

/** `RunOptions` after the check, with all durations in milliseconds. */
export type CheckedRunOptions = Omit<RunOptions, "limits" | "timeoutMs"> &
  Partial<Pick<SubmitSession, "limits" | "timeoutMs">>;
