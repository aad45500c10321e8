/** The lease of a queue that is shared between hosts, where the configuration names none: 8 seconds. */
export const leaseMsDefault = 8_000;

/**
 * Who runs what. The queue holds bytes and knows nothing of agents beyond their names.
 *
 * Promises: a run is queued or held at most once; a taken task is nobody else's until it is parked, finished or lost. A
 * task that comes again to the process that holds it goes on being held there, and is not taken a second time.
 */
export interface TaskQueue {
  /**
   * Idempotent by run: `duplicate` when the run is queued or held already. A run has one agent and one place, each time
   * that it is offered.
   */
  offer(task: TaskOffer): Promise<"offered" | "duplicate">;
  /** Up to `max` tasks that are there now; never waits for more. */
  take(request: TakeRequest): Promise<TakenTask[]>;
  /** Calls back when it may be worth taking again. Returns the unsubscriber. */
  onHint(listener: () => void): () => void;
  /** Looks more often for a while: a host that held tasks may be gone. */
  pollFaster(): void;
  close(): Promise<void>;
}

export interface TaskOffer {
  run: string;
  agent: string;
  /** `any`, or the id of the workspace that the run's files are in. */
  locality: string;
  /** A `RunRequest`, encoded. */
  bytes: Uint8Array;
}

export interface TakeRequest {
  /** Agents that the host serves; `"all"` for every one. */
  agents: readonly string[] | "all";
  /** Places that the host serves besides `any`; `"all"` for every one. */
  localities: readonly string[] | "all";
  max: number;
}

export interface TakenTask {
  run: string;
  bytes: Uint8Array;
  /**
   * Whether it may have been handed to somebody before who has neither parked nor finished it. That is no proof of a
   * death, nor is its absence one of anything: a task parked with `again` may say so too, and one of a queue that was
   * lost and filled again does not. Whoever takes a run that is known asks the host that claimed it last.
   */
  redelivered: boolean;
  /** Aborts when somebody else may hold the task now. */
  lost: AbortSignal;
  /**
   * Whether the lease is certain: it was confirmed so lately, by the monotonic and by the wall clock, that nobody else
   * can have been handed the task. Where it is not, the journal's end is read before anything is begun.
   */
  isCertain(): boolean;
  /**
   * Makes an uncertain lease certain again: only after the journal's end was read and shows nobody else's claim. Whether
   * it is certain now; it is not as long as nobody confirms it, nor once it is lost. Never throws.
   */
  renew(): Promise<boolean>;
  /**
   * Calls back while the lease is uncertain and could be renewed: when that is noticed, and every quarter of a lease
   * from then on. Uncertain leases are not extended by themselves. Returns the unsubscriber.
   */
  onUncertain(listener: () => void): () => void;
  /** Gives the task back unfinished. */
  park(options?: ParkOptions): Promise<void>;
  /** Only after the run's terminal entry is in the journal. */
  finish(): Promise<void>;
  /** Lets go of it without a word to the queue: somebody else has it. Nothing is sent for it afterwards. */
  drop(): void;
}

export interface ParkOptions {
  /** Anybody may take it. Otherwise it is in the queue no more: whoever wakes the run offers it again. */
  again: boolean;
  /** Not before so much time has passed. Whoever parks a task because another suits better gives him that time. @default 0 */
  againAfterMs?: number;
}
