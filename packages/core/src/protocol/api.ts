import { z } from "zod";
import { durationSchema } from "../text/duration.ts";
import { AgentDefinition, ContextMode, Risk, Subagents, WorkspaceMode, WriteScope } from "./agent.ts";
import { ApprovalRule, ApprovalScope, FileLosses } from "./approval.ts";
import { Budget, PartialBudget } from "./budget.ts";
import { CallPreview } from "./call-preview.ts";
import { ForkedFrom } from "./forked-from.ts";
import { Id, Token } from "./ids.ts";
import { RunContext } from "./intent.ts";
import { Json } from "./json.ts";
import { PartialLimits } from "./limits.ts";
import { PlanExecution } from "./plan.ts";
import { SessionOrigin } from "./request.ts";
import type { RunStatus } from "./response.ts";
import { Taint } from "./taint.ts";
import { AgentName, agentIdOf, TeamName, TeamSummary } from "./team.ts";
import { FileChange } from "./tool.ts";
import { UndoRow } from "./undo.ts";

/** Status of a run or session in the record and in every display. */
export const RecordStatus = z.enum(["pending", "running", "completed", "failed", "cancelled", "timeout"]);
export type RecordStatus = z.infer<typeof RecordStatus>;

/** A session. `task` is from its first turn, `status` from its newest. */
export const SessionRow = z.object({
  session: Id,
  /** The first run of the newest turn. */
  rootRun: Id,
  agent: Token,
  /** The team of its first agent; null for none. */
  team: Token.nullable().default(null),
  task: z.string(),
  status: RecordStatus,
  origin: SessionOrigin,
  /** Answered by a script or a recording, without calling a model. */
  demo: z.boolean(),
  /** Answered by a recording: the newest turn repeats an earlier session. */
  replay: z.boolean().default(false),
  workspace: z.string(),
  startedAt: z.iso.datetime(),
  completedAt: z.iso.datetime().nullable(),
  /** Sum over all turns, without the time between them. Null until the newest turn settles. */
  durationMs: z.number().nullable(),
  summary: z.string().nullable(),
  error: z.string().nullable(),
  turns: z.int().positive().default(1),
  /** When the newest turn started; null for a session of one turn. */
  turnStartedAt: z.iso.datetime().nullable().default(null),
  runs: z.int(),
  runsActive: z.int(),
  totalTokens: z.int(),
  /** Sum over all runs; null if the price of one is unknown. */
  costUsd: z.number().nullable().default(null),
  /** The part of `totalTokens` that is an estimate, because model calls were stopped or lost. Then the cost is one too. */
  estimatedTokens: z.int().default(0),
  /** The part of `costUsd` that is an estimate; null if the price of one is unknown. */
  estimatedCostUsd: z.number().nullable().default(0),
  /** Approvals that wait for a person. */
  approvalsWaiting: z.int().default(0),
  /** The session that it begins with a copy of; null for none. */
  forkedFrom: ForkedFrom.nullable().default(null),
});
export type SessionRow = z.infer<typeof SessionRow>;

/** A run in the record. */
export const RunRow = z.object({
  run: Id,
  session: Id,
  parentRun: Id.nullable(),
  /** Position among all runs of the session in order of appearance. It never changes. */
  order: z.int(),
  agent: Token,
  /** The team of its agent; null for none, and until the run is open. */
  team: Token.nullable().default(null),
  depth: z.int(),
  attempt: z.int(),
  maxAttempts: z.int(),
  task: z.string(),
  status: RecordStatus,
  /** The more precise status of the machine: `rejected`, `bailed_out`, `queued`, `waiting`, `paused`, `parked`. */
  exactStatus: z.string(),
  /**
   * Position in the queue of siblings for a slot, from 1, when the row was read; null for a run that does not queue.
   * A start of a sibling does not update this row, because a queue of 1,000 would send 1,000 rows for each start.
   * To stay current, count the `queued` siblings with a lower `order`.
   */
  queuePosition: z.int().nullable().default(null),
  contextMode: ContextMode.default("task_only"),
  model: z.string().nullable(),
  /** The host that wrote its newest entry; null until the run is open. */
  host: Token.nullable().default(null),
  startedAt: z.iso.datetime(),
  completedAt: z.iso.datetime().nullable(),
  durationMs: z.number().nullable(),
  iterations: z.int(),
  maxIterations: z.int().nullable(),
  toolCalls: z.int(),
  totalTokens: z.int(),
  costUsd: z.number().nullable().default(null),
  /** The part of `totalTokens` that is an estimate, because model calls were stopped or lost. Then the cost is one too. */
  estimatedTokens: z.int().default(0),
  /** The part of `costUsd` that is an estimate; null if the price is unknown. */
  estimatedCostUsd: z.number().nullable().default(0),
  maxToolCalls: z.int().nullable().default(null),
  maxDurationMs: z.number().nullable().default(null),
  /** Budget of the run and all runs below it; null until the run is open. */
  budget: Budget.nullable().default(null),
  filesModified: z.array(z.string()),
  /** Its latest action by the journal: `write hello.md`, `waits for coder`. */
  activity: z.string().nullable(),
  summary: z.string().nullable(),
  /** Confidence of its model in the result, from 0 to 1; null if it does not say. */
  confidence: z.number().nullable().default(null),
  error: z.string().nullable(),
  bailoutReason: z.string().nullable(),
  /** The limit that left the last turn without tools, so that it could only answer; null if none did. */
  answerOnly: z.string().nullable().default(null),
  warnings: z.array(z.string()),
  lastEventAt: z.iso.datetime(),
  /** Present if the row is too large for a page, and its texts and lists are only their beginning. Its entries have the rest. */
  isCut: z.literal(true).exactOptional(),
});
export type RunRow = z.infer<typeof RunRow>;

/** A request for a person's approval. It closes when it is answered or its run ends. */
export const ApprovalRow = z.object({
  id: Id,
  session: Id,
  run: Id,
  agent: Token,
  /** The team of the agent; null for none. */
  team: Token.nullable().default(null),
  /** Agents from the root down to the requester. */
  path: z.array(Token),
  /** Null means the whole run. */
  tool: z.string().nullable(),
  /** All arguments: the approval is for exactly these. */
  args: Json,
  risk: Risk,
  reason: z.string(),
  state: z.enum(["waiting", "approved", "denied", "withdrawn"]),
  requestedAt: z.iso.datetime(),
  answeredAt: z.iso.datetime().nullable(),
  scope: ApprovalScope.nullable(),
  by: z.string().nullable(),
  /** The person's reason. */
  answerReason: z.string().nullable(),
  /** Files that the call deletes or overwrites, and that git does not have. Absent: none. */
  losses: FileLosses.exactOptional(),
  /** The email, event or message of the call, as a person would see it. Absent: the arguments say it all. */
  preview: CallPreview.exactOptional(),
  /** Present if the row is too large for a page of its session: it has no arguments then. The approval by its id has them. */
  isCut: z.literal(true).exactOptional(),
});
export type ApprovalRow = z.infer<typeof ApprovalRow>;

/** The change of one file by one call. */
export const ChangeRow = FileChange.pick({
  path: true,
  kind: true,
  diff: true,
  linesAdded: true,
  linesRemoved: true,
  runsLater: true,
}).extend({
  /** Increases through the whole record: a later change has a higher id. */
  id: z.int(),
  session: Id,
  run: Id,
  agent: Token,
  step: z.int(),
  call: z.int(),
  tool: z.string(),
  /** `diff` contains only its beginning. */
  cut: z.boolean(),
  at: z.iso.datetime(),
});
export type ChangeRow = z.infer<typeof ChangeRow>;

/**
 * A damaged part of a session's record. `forked`: a run has two entries at that index; both are stored and the first
 * counts. `quarantined`: an entry, or an inbox item (`run` is null), was damaged or did not fit, and is ignored.
 */
export const IntegrityFinding = z.object({
  kind: z.enum(["forked", "quarantined"]),
  run: Id.nullable(),
  index: z.int(),
  reason: z.string(),
});
export type IntegrityFinding = z.infer<typeof IntegrityFinding>;

/**
 * A session with its runs and approvals. `position` is the journal position of the rows. Over HTTP a page has at most 1 MB: the
 * pages behind the first one continue the lists.
 */
export const SessionDetail = z.object({
  position: z.int(),
  session: SessionRow,
  runs: z.array(RunRow),
  approvals: z.array(ApprovalRow).default([]),
  /** Absent if there are none. */
  flaws: z.array(IntegrityFinding).exactOptional(),
  /** Undos of its runs, oldest first. Absent if there are none. */
  undos: z.array(UndoRow).exactOptional(),
  /** The `after` of the next page. Absent on the last one. */
  next: z.string().exactOptional(),
});
export type SessionDetail = z.infer<typeof SessionDetail>;

/** Current rows. Applying a change twice, or skipping to a later one, gives the same result. */
export const RecordChange = z.object({
  position: z.int(),
  sessions: z.array(SessionRow),
  runs: z.array(RunRow),
  approvals: z.array(ApprovalRow).default([]),
});
export type RecordChange = z.infer<typeof RecordChange>;

export const AgentSummary = z.object({
  id: Token,
  name: z.string(),
  description: z.string(),
  tools: z.array(z.string()).nullable(),
  subagents: Subagents.shape.allow.unwrap(),
  model: z.string(),
  origin: z.string(),
  path: z.string(),
  /** Switched off by its definition or the machine's policy. */
  disabled: z.boolean().default(false),
  /** Why no run can use it here, although it is not disabled: none of its tools exists. Absent: it can be used. */
  unusable: z.string().exactOptional(),
  /** `plan`: it and all runs below it only read. */
  permissionMode: AgentDefinition.shape.permissionMode,
  /** The team that it belongs to. Absent: none. */
  team: TeamName.exactOptional(),
  /** Where its runs work, if not in the folder of the session. */
  workspace: WorkspaceMode.exactOptional(),
});
export type AgentSummary = z.infer<typeof AgentSummary>;

/** Status of a daemon, or of a `troupe run` that owns its home. */
export const DaemonStatus = z.object({
  version: z.string(),
  pid: z.int(),
  home: z.string(),
  /** The owner of the home: a daemon, or a `troupe run` that other commands attach to. */
  kind: z.enum(["daemon", "run"]),
  bus: z.string(),
  store: z.string(),
  provider: z.string(),
  /** Default model of sessions; null if no model is configured. */
  model: z.string().nullable().exactOptional(),
  demo: z.boolean(),
  agents: z.int(),
  /** The sandbox of agents' commands, and whether it contains them. */
  sandbox: z
    .object({ kind: z.string(), contains: z.boolean(), detail: z.string(), fix: z.string().nullable() })
    .exactOptional(),
  /** Conditions that hold back work and that the user can end, such as a full disk. */
  warnings: z.array(z.string()).exactOptional(),
  startedAt: z.iso.datetime(),
});
export type DaemonStatus = z.infer<typeof DaemonStatus>;

/** A process that runs agents. */
export const HostRow = z.object({
  host: Token,
  role: z.enum(["daemon", "run", "worker"]),
  version: z.string(),
  pid: z.int(),
  place: Token,
  /** `gone`: its last three heartbeats are missing. */
  status: z.enum(["alive", "draining", "gone"]),
  agents: z.array(z.object({ id: Token, hash: z.string() })),
  capacity: z.int(),
  /** Runs in its memory, and the number of them that are working. */
  runs: z.int(),
  busy: z.int(),
  startedAt: z.iso.datetime(),
  lastHeartbeatAt: z.iso.datetime(),
});
export type HostRow = z.infer<typeof HostRow>;

/** Result of a request to drain a host. */
export const HostOutcome = z.object({ host: Token, outcome: z.enum(["requested", "draining", "gone"]) });
export type HostOutcome = z.infer<typeof HostOutcome>;

/** Restrictions of a session by its caller. They only narrow its grant. */
export const SessionGrant = z.strictObject({
  tools: z.array(z.string()).optional(),
  denyTools: z.array(z.string()).optional(),
  /** Ids, or `team/agent`. */
  agents: z.array(z.string().overwrite(agentIdOf)).optional(),
  denyAgents: z.array(z.string().overwrite(agentIdOf)).optional(),
  writes: WriteScope.optional(),
});
export type SessionGrant = z.infer<typeof SessionGrant>;

/**
 * The request for a new session or a further turn.
 *
 * @example
 * SubmitSession.parse({ task: "Compare the two licences" }).origin; // "api"
 */
export const SubmitSession = z.object({
  /** Chosen by the caller: repeating the request after a lost connection then creates no second session. */
  session: Id.optional(),
  task: z.string().trim().min(1, "a task needs words").max(200_000),
  /** An id, or `team/agent`. */
  agent: AgentName.optional(),
  /** The team whose entry agent receives the request, or whose `agent` does. */
  team: TeamName.optional(),
  /** Model to use instead of the configured one: an id, an alias, or a key of the configured map. */
  model: z.string().min(1).optional(),
  /** The settled session to continue: its history is known, and its folder is the workspace. */
  continues: Id.optional(),
  /** Id of the new turn's first run, chosen by the caller for the same reason as `session`. */
  run: Id.optional(),
  /** Absolute path. @default a new folder under the home */
  workspace: z.string().optional(),
  /** Allows a home, or a folder above one, as the workspace. @default false */
  allowHome: z.boolean().optional(),
  context: z.string().optional(),
  scenario: z.string().optional(),
  timeoutMs: durationSchema(z.int().positive()).optional(),
  /** Budget of the whole tree. */
  budget: PartialBudget.optional(),
  /** Tightens the limits of the root run. */
  limits: PartialLimits.optional(),
  /** Narrows the grant of the whole tree. */
  grant: SessionGrant.optional(),
  userId: z.string().optional(),
  /** Executes a plan. The task is then for people only. */
  plan: PlanExecution.optional(),
  /** Asks the planner for a plan: the task is its goal, and the answer is a plan. */
  makesPlan: z.literal(true).optional(),
  origin: SessionOrigin.default("api"),
});
export type SubmitSession = z.infer<typeof SubmitSession>;

export const Submitted = z.object({ session: Id, run: Id, workspace: z.string(), demo: z.boolean() });
export type Submitted = z.infer<typeof Submitted>;

export const ApiError = z.object({
  error: z.object({ code: z.string(), message: z.string(), fix: z.string().nullable() }),
});
export type ApiError = z.infer<typeof ApiError>;

/** A problem in an agent file, and its position. */
export const AgentProblem = z.object({
  path: z.string(),
  line: z.int().positive(),
  column: z.int().positive(),
  severity: z.enum(["error", "warning"]),
  /** Stable, kebab-case: `unknown-key`, `missing-description`, `invalid-yaml`… */
  code: z.string(),
  message: z.string(),
  fix: z.string().nullable(),
});
export type AgentProblem = z.infer<typeof AgentProblem>;

export const AgentList = z.object({
  agents: z.array(AgentSummary),
  problems: z.array(AgentProblem),
  /** Usable teams. Absent in answers of earlier versions. */
  teams: z.array(TeamSummary).exactOptional(),
});
export type AgentList = z.infer<typeof AgentList>;

/** The usable teams of a folder, and the problems in the files of all agents and teams. */
export const TeamList = z.object({ teams: z.array(TeamSummary), problems: z.array(AgentProblem) });
export type TeamList = z.infer<typeof TeamList>;

export const CancelOutcome = z.object({
  session: Id,
  /** `requested`: it will stop. `settled`: it had already ended, and nothing changed. */
  outcome: z.enum(["requested", "settled"]),
  status: RecordStatus,
});
export type CancelOutcome = z.infer<typeof CancelOutcome>;

/** Result of cancelling, steering, pausing or resuming a run. A settled run does not change. */
export const RunControlOutcome = z.object({
  session: Id,
  run: Id,
  outcome: z.enum(["requested", "settled"]),
  status: RecordStatus,
});
export type RunControlOutcome = z.infer<typeof RunControlOutcome>;

/** A person's answer to a request for approval. */
export const ApprovalAnswer = z
  .strictObject({
    approved: z.boolean(),
    scope: ApprovalScope.default("once"),
    /** For a rule: whether it matches any arguments of the tool, not only these. */
    anyArguments: z.boolean().default(false),
    /** For a rule of a tool that runs commands: the commands that it matches, such as `git status:*`. */
    commands: z.string().trim().min(1).max(1_000).exactOptional(),
    reason: z.string().trim().min(1).max(2_000).nullable().default(null),
    by: z.string().trim().min(1).max(200).default("a person"),
  })
  .refine(({ scope, anyArguments }) => scope === "rule" || !anyArguments, {
    path: ["anyArguments"],
    message: "only a rule can be for any arguments: set scope to rule",
  })
  .refine(({ scope, anyArguments, commands }) => commands === undefined || (scope === "rule" && !anyArguments), {
    path: ["commands"],
    message: "only a rule can be for some commands: set scope to rule, without anyArguments",
  });
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>;

/** `settled`: it was already answered or its run has ended; nothing changed. `approval` is the current row. */
export const ApprovalOutcome = z.object({
  approval: ApprovalRow,
  outcome: z.enum(["answered", "settled"]),
  rule: ApprovalRule.nullable(),
});
export type ApprovalOutcome = z.infer<typeof ApprovalOutcome>;

/** Whether a tool or an agent is granted, and which layer removed it. */
export const GrantDecision = z.object({
  kind: z.enum(["tool", "agent"]),
  name: z.string(),
  granted: z.boolean(),
  /** The first layer that removed it; null if it is granted. */
  removedBy: z.string().nullable(),
  /** For example: `not in tools of coder`, `denied by the session`. */
  reason: z.string(),
});
export type GrantDecision = z.infer<typeof GrantDecision>;

export const GrantExplanation = z.object({
  run: Id,
  session: Id,
  agent: Token,
  /** Names of the layers in the order of their addition. */
  layers: z.array(z.string()),
  verdicts: z.array(GrantDecision),
  /** Where the run works, if not in the folder of its parent or session. */
  workspace: WorkspaceMode.exactOptional(),
  /** The task, the progress and the result so far. Absent if an older version explains. */
  context: RunContext.exactOptional(),
  /** Untrusted and private sources that the run has read. Absent: none. */
  taint: Taint.exactOptional(),
});
export type GrantExplanation = z.infer<typeof GrantExplanation>;

/** The record's status for a run's end. The record has fewer statuses than the machine. */
export function toRecordStatus(status: RunStatus): RecordStatus {
  if (status === "rejected" || status === "bailed_out") return "failed";
  return status;
}
