/** Something that the record could not take as it came. It is kept, counted and reported; the feed goes on. */
export interface RecordProblem {
  /**
   * `quarantined`: an item that is damaged or does not fit; it is set aside. `forked`: a run has two entries at one
   * index; both are kept, the first counts. `stalled`: nothing can be recorded at the moment; it is tried again.
   * `stopped`: the feed ended, and nothing more will be recorded. `listener`: somebody who watches the record threw.
   */
  kind: "quarantined" | "forked" | "stalled" | "stopped" | "listener";
  message: string;
  session: string | null;
  run: string | null;
  index: number | null;
  position: number | null;
  cause: unknown;
}

/** What a problem with one item of the feed says. */
export function itemProblem(
  kind: RecordProblem["kind"],
  item: { position: number; session: string; run: string | null; index: number },
  reason: string,
): RecordProblem {
  const { position, session, run, index } = item;
  const what = run === null ? `inbox item ${index} of session ${session}` : `entry ${index} of run ${run}`;
  return { kind, message: `${what} ${reason}`, session, run, index, position, cause: null };
}
