import type { Logger } from "@troupe/core";
import type { Stored } from "../jetstream/stored-messages.ts";

/** Messages on our subjects that are none of ours. They stay where they are, and are as if they were not. */
export interface InvalidEntries {
  /** So many so far; each counts once. */
  readonly count: number;
  refuse(message: Pick<Stored, "sequence" | "subject">, why: string): void;
}

/** Of those that were counted so many are remembered: many readers find the same one. */
const rememberedMax = 10_000;

/** Each kind is logged once. */
export function createInvalidEntries(logger: Logger): InvalidEntries {
  const logged = new Set<string>();
  const seen = new Set<number>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    refuse({ sequence, subject }, why) {
      if (seen.has(sequence)) return;
      if (seen.size >= rememberedMax) seen.clear();
      seen.add(sequence);
      count += 1;
      if (logged.has(why)) return;
      logged.add(why);
      logger.warn({ subject, sequence, why, refused: count }, "message in the journal refused");
    },
  };
}
