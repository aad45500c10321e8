import { TroupeError } from "@troupe/core";
import { DatabaseError, type DatabaseProblem } from "./problem.ts";

/** The error that callers see. */
export function toTroupeError({ code, message, fix }: DatabaseProblem, cause?: unknown): TroupeError {
  return new TroupeError(code, message, { ...(fix === null ? {} : { fix }), cause });
}

/** Runs what may meet a broken database, and says so in the project's own words. */
export function inTroupeWords<T>(act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    if (thrown instanceof DatabaseError) throw toTroupeError(thrown.problem, thrown.cause);
    throw thrown;
  }
}
