import { z } from "zod";
import { ContextMode, Risk, Subagents, WriteScope } from "./agent.ts";
import { ApprovalRule, ApprovalScope } from "./approval.ts";
import { Budget, PartialBudget } from "./budget.ts";
import { Id, Token } from "./ids.ts";
import { Json } from "./json.ts";
import { PartialLimits } from "./limits.ts";
import { SessionOrigin } from "./request.ts";
import type { RunStatus } from "./response.ts";
import { FileChange } from "./tool.ts";

/** The words of the `status` columns, and of everything that people look at. */
export const RecordStatus = z.enum(["pending", "running", "completed", "failed", "cancelled", "timeout"]);
export type RecordStatus = z.infer<typeof RecordStatus>;

/** A session is known by what was asked first; how it stands is how its newest turn stands. */
export const SessionRow = z.object({
  session: Id,
  /** The first run of the newest turn. */
  rootRun: Id,
  agent: Token,
  task: z.string(),
  status: RecordStatus,
  origin: SessionOrigin,
  /** Answered by a script: no model was called. */
  demo: z.boolean(),
  workspace: z.string(),
  startedAt: z.iso.datetime(),
  completedAt: z.iso.datetime().nullable(),
  /** Of all turns together: nobody was at work between two of them. Null while the newest has not settled. */
  durationMs: z.number().nullable(),
  summary: z.string().nullable(),
  error: z.string().nullable(),
  /** How often something was asked, and when the last time was; null: it was asked once. */
  turns: z.int().positive().default(1),
  turnStartedAt: z.iso.datetime().nullable().default(null),
  runs: z.int(),
  runsActive: z.int(),
  totalTokens: z.int(),
  /** Of all its runs; null when the price of any is unknown. */
  costUsd: z.number().nullable().default(null),
  /** Questions that a person has to answer before it goes on. */
  approvalsWaiting: z.int().default(0),
});
export type SessionRow = z.infer<typeof SessionRow>;

export const RunRow = z.object({
  run: Id,
  session: Id,
  parentRun: Id.nullable(),
  /** Place among all runs of the session, by when they were first seen: stable for as long as the session lives. */
  order: z.int(),
  agent: Token,
  depth: z.int(),
  attempt: z.int(),
  maxAttempts: z.int(),
  task: z.string(),
  status: RecordStatus,
  /** The machine's own word, where it is finer: `rejected`, `bailed_out`, `queued`, `waiting`, `paused`, `parked`. */
  exactStatus: z.string(),
  /**
   * Place among the siblings that queue for a slot, from 1, when the row was read; null for a run that does not queue.
   * When a sibling starts, only its own row comes anew, or a queue of 1,000 would bring 1,000 rows for each start:
   * whoever holds the siblings counts those that are `queued` and have a lower `order`.
   */
  queuePosition: z.int().nullable().default(null),
  contextMode: ContextMode.default("task_only"),
  model: z.string().nullable(),
  /** The host that has written its newest entry: where it lives, or was last. Null until it is open. */
  host: Token.nullable().default(null),
  startedAt: z.iso.datetime(),
  completedAt: z.iso.datetime().nullable(),
  durationMs: z.number().nullable(),
  iterations: z.int(),
  maxIterations: z.int().nullable(),
  toolCalls: z.int(),
  totalTokens: z.int(),
  costUsd: z.number().nullable().default(null),
  maxToolCalls: z.int().nullable().default(null),
  maxDurationMs: z.number().nullable().default(null),
  /** What the run and all below it may use; null until it is open. */
  budget: Budget.nullable().default(null),
  filesModified: z.array(z.string()),
  /** Last thing that the journal says it did: `write hello.md`, `waits for coder`. */
  activity: z.string().nullable(),
  summary: z.string().nullable(),
  error: z.string().nullable(),
  bailoutReason: z.string().nullable(),
  warnings: z.array(z.string()),
  lastEventAt: z.iso.datetime(),
});
export type RunRow = z.infer<typeof RunRow>;

/** A question to a person: open until it is answered, or until its run has ended without an answer. */
export const ApprovalRow = z.object({
  id: Id,
  session: Id,
  run: Id,
  agent: Token,
  /** Agents from the root down to the requester. */
  path: z.array(Token),
  /** Null: the whole run. */
  tool: z.string().nullable(),
  /** In full: what is allowed is exactly this. */
  args: Json,
  risk: Risk,
  reason: z.string(),
  state: z.enum(["waiting", "approved", "denied", "withdrawn"]),
  requestedAt: z.iso.datetime(),
  answeredAt: z.iso.datetime().nullable(),
  scope: ApprovalScope.nullable(),
  by: z.string().nullable(),
  /** What the person said. */
  answerReason: z.string().nullable(),
});
export type ApprovalRow = z.infer<typeof ApprovalRow>;

/** What one call has done to one file. */
export const ChangeRow = FileChange.pick({
  path: true,
  kind: true,
  diff: true,
  linesAdded: true,
  linesRemoved: true,
}).extend({
  /** Counts up through the whole record: of two changes the later one has the higher. */
  id: z.int(),
  session: Id,
  run: Id,
  agent: Token,
  step: z.int(),
  call: z.int(),
  tool: z.string(),
  /** `diff` is but the beginning of it. */
  cut: z.boolean(),
  at: z.iso.datetime(),
});
export type ChangeRow = z.infer<typeof ChangeRow>;

/**
 * What is wrong with what is known of a session. `forked`: a run has two entries at that index; both are kept, the first
 * counts. `quarantined`: an entry, or an item of the inbox (`run` is null), was damaged or did not fit, and was set aside.
 */
export const IntegrityFinding = z.object({
  kind: z.enum(["forked", "quarantined"]),
  run: Id.nullable(),
  index: z.int(),
  reason: z.string(),
});
export type IntegrityFinding = z.infer<typeof IntegrityFinding>;

export const SessionDetail = z.object({
  position: z.int(),
  session: SessionRow,
  runs: z.array(RunRow),
  approvals: z.array(ApprovalRow).default([]),
  /** Absent where nothing is wrong. */
  flaws: z.array(IntegrityFinding).exactOptional(),
});
export type SessionDetail = z.infer<typeof SessionDetail>;

/** Rows as they are now: applying one twice, or skipping to a later one, gives the same page. */
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
  /** Switched off, by its own definition or by the machine's policy: nobody can ask it. */
  disabled: z.boolean().default(false),
});
export type AgentSummary = z.infer<typeof AgentSummary>;

export const DaemonStatus = z.object({
  version: z.string(),
  pid: z.int(),
  home: z.string(),
  /** Who owns the home: a daemon, or a `troupe run` that others attached to. */
  kind: z.enum(["daemon", "run"]),
  bus: z.string(),
  store: z.string(),
  provider: z.string(),
  /** Of sessions that name none; null where nothing could answer them. */
  model: z.string().nullable().exactOptional(),
  demo: z.boolean(),
  agents: z.int(),
  /** How commands of agents are kept, and whether they are kept to what they were given. */
  sandbox: z
    .object({ kind: z.string(), contains: z.boolean(), detail: z.string(), fix: z.string().nullable() })
    .exactOptional(),
  startedAt: z.iso.datetime(),
});
export type DaemonStatus = z.infer<typeof DaemonStatus>;

/** A process that runs agents, as people see it. */
export const HostRow = z.object({
  host: Token,
  role: z.enum(["daemon", "run", "worker"]),
  version: z.string(),
  pid: z.int(),
  place: Token,
  /** `gone`: nothing was heard of it for three of its beats. */
  status: z.enum(["alive", "draining", "gone"]),
  agents: z.array(z.object({ id: Token, hash: z.string() })),
  capacity: z.int(),
  /** Runs that live there, and those of them that are at work. */
  runs: z.int(),
  busy: z.int(),
  startedAt: z.iso.datetime(),
  lastHeartbeatAt: z.iso.datetime(),
});
export type HostRow = z.infer<typeof HostRow>;

/** What came of asking a host to drain. */
export const HostOutcome = z.object({ host: Token, outcome: z.enum(["requested", "draining", "gone"]) });
export type HostOutcome = z.infer<typeof HostOutcome>;

/** What a caller lets a session use: it can only take away. */
export const SessionGrant = z.strictObject({
  tools: z.array(z.string()).optional(),
  denyTools: z.array(z.string()).optional(),
  agents: z.array(z.string()).optional(),
  denyAgents: z.array(z.string()).optional(),
  writes: WriteScope.optional(),
});
export type SessionGrant = z.infer<typeof SessionGrant>;

export const SubmitSession = z.object({
  /** Chosen by whoever asks, so that asking again after a lost connection is still asking once. */
  session: Id.optional(),
  task: z.string().trim().min(1, "a task needs words").max(200_000),
  agent: Token.optional(),
  /** What answers it, in place of the model that is configured: an id, an alias, or one of the configured map. */
  model: z.string().min(1).optional(),
  /** A settled session that this is another turn of: its history is known, its folder is the workspace. */
  continues: Id.optional(),
  /** Of a turn that continues a session: its first run, chosen by whoever asks, for the same reason as `session`. */
  run: Id.optional(),
  /** Absolute path; without one the session gets a folder under the home. */
  workspace: z.string().optional(),
  context: z.string().optional(),
  scenario: z.string().optional(),
  timeoutMs: z.int().positive().optional(),
  /** What the whole tree may use. */
  budget: PartialBudget.optional(),
  /** Tightens the caps of the root run. */
  limits: PartialLimits.optional(),
  /** Narrows what the whole tree may use. */
  grant: SessionGrant.optional(),
  userId: z.string().optional(),
  origin: SessionOrigin.default("api"),
});
export type SubmitSession = z.infer<typeof SubmitSession>;

export const Submitted = z.object({ session: Id, run: Id, workspace: z.string(), demo: z.boolean() });
export type Submitted = z.infer<typeof Submitted>;

export const ApiError = z.object({
  error: z.object({ code: z.string(), message: z.string(), fix: z.string().nullable() }),
});
export type ApiError = z.infer<typeof ApiError>;

/** A finding of the lint, with the place in the file. */
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

export const AgentList = z.object({ agents: z.array(AgentSummary), problems: z.array(AgentProblem) });
export type AgentList = z.infer<typeof AgentList>;

export const CancelOutcome = z.object({
  session: Id,
  /** `requested`: it will stop; `settled`: it had ended already and nothing changed. */
  outcome: z.enum(["requested", "settled"]),
  status: RecordStatus,
});
export type CancelOutcome = z.infer<typeof CancelOutcome>;

/** What came of cancelling, steering, pausing or resuming a run: what has ended stays as it is. */
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
    /** Of a rule: whether it fits the tool with any arguments, and not only with these. */
    anyArguments: z.boolean().default(false),
    reason: z.string().trim().min(1).max(2_000).nullable().default(null),
    by: z.string().trim().min(1).max(200).default("a person"),
  })
  .refine(({ scope, anyArguments }) => scope === "rule" || !anyArguments, {
    path: ["anyArguments"],
    message: "only a rule can be for any arguments: set scope to rule",
  });
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>;

/** `settled`: it was answered before, or its run has ended; nothing changed, and `approval` says how it stands. */
export const ApprovalOutcome = z.object({
  approval: ApprovalRow,
  outcome: z.enum(["answered", "settled"]),
  rule: ApprovalRule.nullable(),
});
export type ApprovalOutcome = z.infer<typeof ApprovalOutcome>;

/** Which layer let a tool or an agent through, and which took it away. */
export const GrantDecision = z.object({
  kind: z.enum(["tool", "agent"]),
  name: z.string(),
  granted: z.boolean(),
  /** The first layer that removed it; null when it is granted. */
  removedBy: z.string().nullable(),
  /** In words: `not in tools of coder`, `denied by the session`, `disabled by its definition`. */
  reason: z.string(),
});
export type GrantDecision = z.infer<typeof GrantDecision>;

export const GrantExplanation = z.object({
  run: Id,
  session: Id,
  agent: Token,
  /** Names of the layers in the order in which they were added. */
  layers: z.array(z.string()),
  verdicts: z.array(GrantDecision),
});
export type GrantExplanation = z.infer<typeof GrantExplanation>;

/** The record's word for how a run ended: it knows fewer than the machine does. */
export function toRecordStatus(status: RunStatus): RecordStatus {
  if (status === "rejected" || status === "bailed_out") return "failed";
  return status;
}
