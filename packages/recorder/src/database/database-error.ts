import { sqliteCodeOf } from "./sqlite.ts";

/**
 * A problem with a database file, as plain data: a worker thread can send it, but not the class of an error. The receiver
 * makes a `TroupeError` of it.
 */
export interface DatabaseProblem {
  code:
    | "DATABASE_TOO_NEW"
    | "DATABASE_DAMAGED"
    | "HOME_UNWRITABLE"
    | "HOME_OWNED"
    | "INVALID_MESSAGE"
    | "UNSUPPORTED_NODE"
    | "INTERNAL";
  message: string;
  fix: string | null;
  /** True if the file may no longer store anything correctly. A failed write is then never retried. */
  fatal: boolean;
}

export class DatabaseError extends Error {
  readonly problem: DatabaseProblem;

  constructor(problem: DatabaseProblem, options?: ErrorOptions) {
    super(problem.message, options);
    this.name = "DatabaseError";
    this.problem = problem;
  }
}

/** Classifies an error of the database at `file`. `whenDamaged` is the fix for a damaged file. */
export function toDatabaseProblem(thrown: unknown, file: string, whenDamaged: string): DatabaseProblem {
  if (thrown instanceof DatabaseError) return thrown.problem;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  const code = sqliteCodeOf(thrown) ?? systemCodeOf(thrown);
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    return { code: "DATABASE_DAMAGED", message: `${file} is damaged: ${reason}`, fix: whenDamaged, fatal: true };
  }
  // 4874: the shared memory of the log cannot grow.
  if (/^SQLITE_(FULL|IOERR 4874$)/.test(code)) {
    return { code: "HOME_UNWRITABLE", message: `no space left for ${file}`, fix: "free some disk space", fatal: false };
  }
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM|AUTH)|^E(ACCES|PERM|ROFS|NOTDIR|EXIST|NOSPC|ISDIR)$/.test(code)) {
    const fatal = code.startsWith("SQLITE_IOERR");
    const fix = fatal ? "check the disk, then start troupe again" : "use a folder that troupe can write to";
    return { code: "HOME_UNWRITABLE", message: `cannot write ${file}: ${reason} (${code})`, fix, fatal };
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    const fix = "stop the other process that has the file open";
    return { code: "HOME_OWNED", message: `${file} is locked by another process`, fix, fatal: false };
  }
  if (code === "UNSUPPORTED_NODE") {
    return { code, message: reason, fix: "install Node 24 from https://nodejs.org", fatal: true };
  }
  return { code: "INTERNAL", message: `${file}: ${reason}`, fix: null, fatal: false };
}

/** Runs `act` on the database at `file`, and throws a `DatabaseError` for every error of it. */
export function guarded<T>({ file, whenDamaged }: { file: string; whenDamaged: string }, act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    throw new DatabaseError(toDatabaseProblem(thrown, file, whenDamaged), { cause: thrown });
  }
}

function systemCodeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}
