/**
 * Who runs what. The queue holds bytes and knows nothing of agents beyond their names.
 *
 * Promises: a run is queued or held at most once; a taken task is nobody else's until it is parked, finished or lost.
 */
export interface TaskQueue {
  /** Idempotent by run: `duplicate` when the run is queued or held already. */
  offer(task: TaskOffer): Promise<"offered" | "duplicate">;
  /** Up to `max` tasks that are there now; never waits for more. */
  take(request: TakeRequest): Promise<TakenTask[]>;
  /** Calls back when it may be worth taking again. Returns the unsubscriber. */
  onHint(listener: () => void): () => void;
  close(): Promise<void>;
}

export interface TaskOffer {
  run: string;
  agent: string;
  /** `any`, or the id of the workspace that the run's files are in. */
  place: string;
  /** A `RunRequest`, encoded. */
  bytes: Uint8Array;
}

export interface TakeRequest {
  /** Agents that the host serves; `"all"` for every one. */
  agents: readonly string[] | "all";
  /** Places that the host serves besides `any`; `"all"` for every one. */
  places: readonly string[] | "all";
  max: number;
}

export interface TakenTask {
  run: string;
  bytes: Uint8Array;
  /** Aborts when somebody else may hold the task now. */
  lost: AbortSignal;
  /** Gives the task back unfinished: whoever wakes the run offers it again. */
  park(): Promise<void>;
  /** Only after the run's terminal entry is in the journal. */
  finish(): Promise<void>;
}
