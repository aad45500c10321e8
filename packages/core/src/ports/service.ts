import type { AgentList, CancelOutcome, DaemonStatus, SubmitSession, Submitted } from "../protocol/api.ts";
import type { LiveEvent } from "../protocol/live.ts";
import type { RecordReader } from "./record.ts";

/** All that a front end (HTTP, command line) can ask of a running troupe. */
export interface TroupeService {
  status(): Promise<DaemonStatus>;
  agents(workspace: string | null): Promise<AgentList>;
  /** Resolves when the session is durable: from then on it survives a kill. */
  submit(request: SubmitSession): Promise<Submitted>;
  cancel(session: string, reason: string): Promise<CancelOutcome>;
  readonly record: RecordReader;
  /** Returns the unsubscriber. */
  onLive(listener: (event: LiveEvent) => void): () => void;
}
