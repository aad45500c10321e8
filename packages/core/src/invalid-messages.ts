/** Why a message on one of our subjects was passed over. */
export type InvalidMessageKind = "malformed" | "foreign" | "newer" | "oversized";

/** Counts what was sent to this process and could not be heard: for its status, and so that a log is not flooded. */
export interface InvalidMessages {
  /** How often, by kind and kind of subject. */
  counts(): Readonly<Record<string, number>>;
  /** Counts one more. True for the first of its sort: that one is worth a line in the log. */
  note(kind: InvalidMessageKind, subject: string): boolean;
}

/**
 * @example
 * const refusals = createRefusals();
 * refusals.note("malformed", "troupe.live.s1.r1"); // true
 * refusals.note("malformed", "troupe.live.s2.r2"); // false
 * refusals.counts(); // { "malformed live": 2 }
 */
export function createInvalidMessages(): InvalidMessages {
  const counts = new Map<string, number>();
  return {
    counts: () => Object.fromEntries(counts),
    note(kind, subject) {
      // What comes after a subject's kind are names and ids, and may be anything.
      const sort = `${kind} ${subject.split(".", 2)[1] ?? subject}`;
      const count = (counts.get(sort) ?? 0) + 1;
      counts.set(sort, count);
      return count === 1;
    },
  };
}
