import { TroupeError } from "@troupe/core";
import { DatabaseError, type DatabaseProblem, toDatabaseProblem } from "./database-error.ts";
import type { DatabaseSpec } from "./open-database.ts";
import { sqliteCodeOf } from "./sqlite.ts";

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

/**
 * The same methods, whose errors of SQLite name the file and the next step: a damaged page shows only when a query reads it.
 * Every other error stays as it is.
 */
export function withFileErrors<Methods extends object>(
  methods: Methods,
  { file, whenDamaged }: Pick<DatabaseSpec, "file" | "whenDamaged">,
): Methods {
  const rethrow = (thrown: unknown): never => {
    if (sqliteCodeOf(thrown) === null) throw thrown;
    throw toTroupeError(toDatabaseProblem(thrown, file, whenDamaged), thrown);
  };
  const guard =
    (method: (...args: unknown[]) => unknown) =>
    (...args: unknown[]): unknown => {
      try {
        const result = method(...args);
        return result instanceof Promise ? result.catch(rethrow) : result;
      } catch (thrown) {
        return rethrow(thrown);
      }
    };
  const guarded = Object.entries(methods).map(([name, value]) => [
    name,
    typeof value === "function" ? guard(value) : value,
  ]);
  return Object.fromEntries(guarded) as Methods;
}
