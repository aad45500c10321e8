import type { AgentStatsList } from "../protocol/agent-stats.ts";
import type {
  AgentList,
  ApprovalAnswer,
  ApprovalOutcome,
  CancelOutcome,
  DaemonStatus,
  GrantExplanation,
  HostOutcome,
  HostRow,
  RunControlOutcome,
  SubmitSession,
  Submitted,
} from "../protocol/api.ts";
import type { ApprovalRule } from "../protocol/approval.ts";
import type { LiveEvent } from "../protocol/live.ts";
import type { UndoOutcome, UndoRequest } from "../protocol/undo.ts";
import type { AgentFiles } from "./agent-files.ts";
import type { RecordReader } from "./record-reader.ts";
import type { SessionArchive } from "./session-archive.ts";
import type { SessionFiles } from "./session-files.ts";
import type { Webhooks } from "./webhooks.ts";

/** The operations of a running troupe for front ends (HTTP, command line). */
export interface TroupeService {
  status(): Promise<DaemonStatus>;
  agents(workspace: string | null): Promise<AgentList>;
  /** Success, time and cost of each agent, and of each agent under each parent, over the last `windowMs`. */
  agentStats(windowMs: number): Promise<AgentStatsList>;
  /** Starts a session, or another turn of a settled one. Durable when it resolves: the session survives a kill. */
  submit(request: SubmitSession): Promise<Submitted>;
  /** Stops all runs of a session. Idempotent. */
  cancel(session: string, reason: string): Promise<CancelOutcome>;
  /** Stops a run and all runs below it. Its parent continues with a cancelled child. */
  cancelRun(run: string, reason: string): Promise<RunControlOutcome>;
  /** Sends a message to a run's model, which reads it at its next step. */
  steer(run: string, text: string, by: string): Promise<RunControlOutcome>;
  /** Pauses a run and all runs below it: running work finishes, nothing new starts, and the clocks stop. */
  pause(run: string, by: string): Promise<RunControlOutcome>;
  resume(run: string, by: string): Promise<RunControlOutcome>;
  /**
   * Restores the files that a run and the runs below it changed. A file that was changed since, or whose old content is
   * not kept, stops the whole undo unless `partial` is set. Fails with `CONFLICT` for a run that is still working and for a
   * run without files on this machine.
   */
  undo(run: string, request: UndoRequest): Promise<UndoOutcome>;
  /** Answers a request for approval. The first answer counts. */
  answer(approval: string, answer: ApprovalAnswer): Promise<ApprovalOutcome>;
  rules(): Promise<ApprovalRule[]>;
  /** Returns the removed rule. Fails with `UNKNOWN_RULE` for an unknown id. */
  removeRule(rule: string): Promise<ApprovalRule>;
  /** Explains a run's grant: every tool and agent, and the layer that removed it. */
  explain(run: string): Promise<GrantExplanation>;
  /** All hosts, this one first. */
  hosts(): Promise<HostRow[]>;
  /** Drains a host: it takes no new runs and leaves its runs to other hosts. Fails with `UNKNOWN_HOST`. */
  drainHost(host: string, by: string): Promise<HostOutcome>;
  /** The agent files of this machine. Absent: this process has none that it could change. */
  readonly agentFiles?: AgentFiles | undefined;
  /** The workbenches of sessions. Absent: this process has none. */
  readonly sessionFiles?: SessionFiles | undefined;
  /** Import, fork and removal of sessions. Absent: this process cannot. */
  readonly sessionArchive?: SessionArchive | undefined;
  /** The webhooks of this machine. Absent: this process sends none. */
  readonly webhooks?: Webhooks | undefined;
  readonly record: RecordReader;
  /** Returns the unsubscriber. */
  onLive(listener: (event: LiveEvent) => void): () => void;
}
