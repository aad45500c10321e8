/** Why this process ignored a message on one of our subjects. */
export type InvalidMessageKind = "malformed" | "foreign" | "newer" | "oversized";

/**
 * Counts the messages that this process ignored, so that its status can show them. It also tells the caller which of
 * them to log: a flood of bad messages must not flood the log.
 */
export interface InvalidMessages {
  /** All messages that were noted so far. */
  readonly count: number;
  /** The same by kind and by area of the subject, such as `malformed live`. */
  counts(): Readonly<Record<string, number>>;
  /**
   * Counts one message. Returns true for the first one with this kind, subject area and reason: the caller logs it.
   *
   * @param reason a fixed text. Each different one is kept in memory, so it must not quote the message.
   */
  note(kind: InvalidMessageKind, subject: string, reason?: string): boolean;
}

/**
 * Creates a counter of invalid messages.
 *
 * @example
 * const invalidMessages = createInvalidMessages();
 * invalidMessages.note("malformed", "troupe.live.s1.r1"); // true: log it
 * invalidMessages.note("malformed", "troupe.live.s2.r2"); // false
 * invalidMessages.note("malformed", "troupe.live.s2.r2", "empty"); // true: another reason
 * invalidMessages.counts(); // { "malformed live": 3 }
 */
export function createInvalidMessages(): InvalidMessages {
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    counts: () => Object.fromEntries(counts),
    note(kind, subject, reason = "") {
      // The tokens after the area are names and ids, so they are left out: their number has no bound.
      const area = `${kind} ${subject.split(".", 2)[1] ?? subject}`;
      count += 1;
      counts.set(area, (counts.get(area) ?? 0) + 1);
      const key = `${area} ${reason}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    },
  };
}
