/**
 * Distributes runs to hosts. The queue stores bytes and knows only the names of agents.
 *
 * Guarantees: a run is queued or held at most once. A taken task belongs to its holder until it is parked, finished or
 * lost. A task that is redelivered to its current holder stays held and is not taken a second time.
 *
 * @example
 * const [task] = await queue.take({ agents: ["coder"], localities: [], max: 1 });
 * await task?.park({ again: true }); // another host may take it
 */
export interface TaskQueue {
  /** Idempotent by run: `duplicate` if the run is queued or held. Every offer of a run has the same agent and locality. */
  offer(task: TaskOffer): Promise<"offered" | "duplicate">;
  /** Takes up to `max` queued tasks. Never waits for more. */
  take(request: TakeRequest): Promise<TakenTask[]>;
  /** Calls the listener when new tasks may be available. Returns the unsubscriber. */
  onHint(listener: () => void): () => void;
  /** Polls more often for a while, because a host with tasks may have died. */
  pollFaster(): void;
  close(): Promise<void>;
}

export interface TaskOffer {
  run: string;
  agent: string;
  /** `any`, or the locality of the run's files. */
  locality: string;
  /** An encoded `RunRequest`. */
  bytes: Uint8Array;
}

export interface TakeRequest {
  /** Agents that the host serves, or `"all"`. */
  agents: readonly string[] | "all";
  /** Localities that the host serves besides `any`, or `"all"`. */
  localities: readonly string[] | "all";
  max: number;
}

export interface TakenTask {
  run: string;
  bytes: Uint8Array;
  /**
   * Whether an earlier delivery may have been neither parked nor finished. It is only a hint: a task parked with `again`
   * may be marked as well, and a task of a rebuilt queue is not. For a known run, ask the host that claimed it last.
   */
  redelivered: boolean;
  /** Aborts when another host may hold the task. */
  lost: AbortSignal;
  /**
   * Whether the lease is certain: by the monotonic and the wall clock, its last confirmation is so recent that no other
   * host can hold the task. While it is uncertain, read the end of the journal before you start anything.
   */
  isCertain(): boolean;
  /**
   * Renews an uncertain lease. Call it only after the end of the journal shows no claim of another host. Resolves to
   * whether the lease is certain now; it is not without a confirmation, or once it is lost. Never throws.
   */
  renew(): Promise<boolean>;
  /**
   * Calls the listener while the lease is uncertain and can be renewed: at once, and then every quarter of a lease.
   * Uncertain leases are not extended automatically. Returns the unsubscriber.
   */
  onUncertain(listener: () => void): () => void;
  /** Gives the unfinished task back. */
  park(options?: ParkOptions): Promise<void>;
  /** Removes the task. Call it only after the run's terminal entry is in the journal. */
  finish(): Promise<void>;
  /** Forgets the task without a message to the queue, because another host holds it. */
  drop(): void;
}

export interface ParkOptions {
  /** Whether any host may take the task again. Otherwise it leaves the queue until the run is offered again. */
  again: boolean;
  /** Earliest time until the task can be taken, for example to leave it to a better suited host. @default 0 */
  againAfterMs?: number;
}
