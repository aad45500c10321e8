import type { SessionRows } from "./session-rows.ts";

/** Between two things that happen there may be a moment in which nothing seems to: only a longer one counts. */
const quietMs = 300;

export interface IdleWatch {
  /** Aborts once nothing goes on without a person. */
  readonly signal: AbortSignal;
  /** To be called after each change. */
  look(): void;
  stop(): void;
}

/** Watches for the moment from which only people are missing. */
export function watchUntilIdle(rows: Pick<SessionRows, "needsPerson">): IdleWatch {
  const reached = new AbortController();
  let quiet: NodeJS.Timeout | undefined;
  return {
    signal: reached.signal,
    look() {
      clearTimeout(quiet);
      if (rows.needsPerson()) quiet = setTimeout(() => reached.abort(), quietMs);
    },
    stop: () => clearTimeout(quiet),
  };
}
