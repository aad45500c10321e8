/** A problem while recording. The recorder reports it and continues with the feed, unless the kind is `stopped`. */
export interface RecordProblem {
  /**
   * `quarantined`: an item is damaged or does not fit; it is kept apart. `forked`: a run has two entries at one index;
   * both are kept and the first counts. `stalled`: recording fails for now and is retried. `stopped`: recording has
   * ended. `listener`: a listener of the record threw.
   */
  kind: "quarantined" | "forked" | "stalled" | "stopped" | "listener";
  message: string;
  session: string | null;
  run: string | null;
  index: number | null;
  position: number | null;
  cause: unknown;
}

/** A problem with one item of the feed. */
export function itemProblem(
  kind: "quarantined" | "forked",
  item: { position: number; session: string; run: string | null; index: number },
  reason: string,
): RecordProblem {
  const { position, session, run, index } = item;
  const subject = run === null ? `inbox item ${index} of session ${session}` : `entry ${index} of run ${run}`;
  return { kind, message: `${subject} ${reason}`, session, run, index, position, cause: null };
}

const prefixes = {
  stalled: "cannot record for now",
  stopped: "recording has stopped",
  listener: "a listener of the record failed",
};

/** A problem with the whole feed or a listener. */
export function recorderProblem(kind: keyof typeof prefixes, cause: unknown): RecordProblem {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${prefixes[kind]}: ${reason}`;
  return { kind, message, session: null, run: null, index: null, position: null, cause };
}
