import type { Logger } from "@troupe/core";

/** Messages that were passed over: all of them counted, the first of each kind in the log. */
export interface InvalidHostMessages {
  note(why: string, detail: object): void;
  readonly count: number;
}

/** Whoever floods us with nonsense must not fill the log as well. */
export function createInvalidHostMessages(logger: Logger): InvalidHostMessages {
  const seen = new Set<string>();
  let count = 0;
  return {
    note(why, detail) {
      count += 1;
      if (seen.has(why)) return;
      seen.add(why);
      logger.warn({ ...detail, why }, "message of a host refused; more of its kind are only counted");
    },
    get count() {
      return count;
    },
  };
}
