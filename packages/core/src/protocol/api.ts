import { z } from "zod";
import { Id, Token } from "./ids.ts";
import { SessionOrigin } from "./request.ts";
import type { RunStatus } from "./response.ts";

/** The words of the `status` columns, and of everything that people look at. */
export const RecordStatus = z.enum(["pending", "running", "completed", "failed", "cancelled", "timeout"]);
export type RecordStatus = z.infer<typeof RecordStatus>;

export const SessionRow = z.object({
  session: Id,
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
  durationMs: z.number().nullable(),
  summary: z.string().nullable(),
  error: z.string().nullable(),
  runs: z.int(),
  runsActive: z.int(),
  totalTokens: z.int(),
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
  /** The machine's own word, where it is finer: `rejected`, `bailed_out`, `queued`. */
  exactStatus: z.string(),
  model: z.string().nullable(),
  startedAt: z.iso.datetime(),
  completedAt: z.iso.datetime().nullable(),
  durationMs: z.number().nullable(),
  iterations: z.int(),
  maxIterations: z.int().nullable(),
  toolCalls: z.int(),
  totalTokens: z.int(),
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

export const SessionDetail = z.object({ position: z.int(), session: SessionRow, runs: z.array(RunRow) });
export type SessionDetail = z.infer<typeof SessionDetail>;

/** Rows as they are now: applying one twice, or skipping to a later one, gives the same page. */
export const RecordChange = z.object({ position: z.int(), sessions: z.array(SessionRow), runs: z.array(RunRow) });
export type RecordChange = z.infer<typeof RecordChange>;

export const AgentSummary = z.object({
  id: Token,
  name: z.string(),
  description: z.string(),
  tools: z.array(z.string()).nullable(),
  subagents: z.array(Token),
  model: z.string(),
  origin: z.string(),
  path: z.string(),
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
  demo: z.boolean(),
  agents: z.int(),
  startedAt: z.iso.datetime(),
});
export type DaemonStatus = z.infer<typeof DaemonStatus>;

export const SubmitSession = z.object({
  /** Chosen by whoever asks, so that asking again after a lost connection is still asking once. */
  session: Id.optional(),
  task: z.string().trim().min(1, "a task needs words").max(200_000),
  agent: Token.optional(),
  /** Absolute path; without one the session gets a folder under the home. */
  workspace: z.string().optional(),
  context: z.string().optional(),
  scenario: z.string().optional(),
  timeoutMs: z.int().positive().optional(),
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

/** The record's word for how a run ended: it knows fewer than the machine does. */
export function toRecordStatus(status: RunStatus): RecordStatus {
  if (status === "rejected" || status === "bailed_out") return "failed";
  return status;
}
