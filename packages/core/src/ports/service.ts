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
import type { RecordReader } from "./record-reader.ts";

/** All that a front end (HTTP, command line) can ask of a running troupe. */
export interface TroupeService {
  status(): Promise<DaemonStatus>;
  agents(workspace: string | null): Promise<AgentList>;
  /** Begins a session, or another turn of one that has settled. Durable when it resolves: it survives a kill. */
  submit(request: SubmitSession): Promise<Submitted>;
  /** Stops all runs of a session. Repeated, or after its end, it changes nothing. */
  cancel(session: string, reason: string): Promise<CancelOutcome>;
  /** Stops a run and all runs below it; its parent goes on with a cancelled child. */
  cancelRun(run: string, reason: string): Promise<RunControlOutcome>;
  /** Gives a run's model a message at its next step. */
  steer(run: string, text: string, by: string): Promise<RunControlOutcome>;
  /** Starts nothing new in a run and all below it; what is at work finishes. Time stands still meanwhile. */
  pause(run: string, by: string): Promise<RunControlOutcome>;
  resume(run: string, by: string): Promise<RunControlOutcome>;
  /** Answers a request for approval. The first answer holds. */
  answer(approval: string, answer: ApprovalAnswer): Promise<ApprovalOutcome>;
  rules(): Promise<ApprovalRule[]>;
  /** Fails with `UNKNOWN_RULE` where there is none of that id. */
  removeRule(rule: string): Promise<ApprovalRule>;
  /** What a run may use, and which layer took away what it may not. */
  explain(run: string): Promise<GrantExplanation>;
  /** The processes that run agents, this one first. */
  hosts(): Promise<HostRow[]>;
  /** Lets a host take nothing new and leave what it has to others. Fails with `UNKNOWN_HOST`. */
  drainHost(host: string, by: string): Promise<HostOutcome>;
  readonly record: RecordReader;
  /** Returns the unsubscriber. */
  onLive(listener: (event: LiveEvent) => void): () => void;
}
