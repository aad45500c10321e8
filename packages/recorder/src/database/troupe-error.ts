import { TroupeError } from "@troupe/core";
import { DatabaseError, type DatabaseProblem } from "./database-error.ts";

export function toTroupeError({ code, message, fix }: DatabaseProblem, cause?: unknown): TroupeError {
  return new TroupeError(code, message, { ...(fix === null ? {} : { fix }), cause });
}

/** Runs `act` and rethrows a database error as a `TroupeError`. */
export function withTroupeErrors<T>(act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    if (thrown instanceof DatabaseError) throw toTroupeError(thrown.problem, thrown.cause);
    throw thrown;
  }
}
