import { IntegrityFinding } from "@troupe/core/internal";
import { openToRead } from "../database/open-database.ts";
import type { Database, SqlValue } from "../database/sqlite.ts";
import { withTroupeErrors } from "../database/troupe-error.ts";
import { recordSpec } from "./table-migrations.ts";
import type { RecordOrigin } from "./writer.ts";

/** Versions below this one have no tables for forks and the origin. */
const originVersion = 5;

/** Reads the integrity findings of a session, in feed order. */
export function createIntegrityLog(database: Database): (session: string) => IntegrityFinding[] {
  const findings = database.prepare<[{ session: string }], Record<string, SqlValue>>(
    `SELECT 'forked' AS kind, run_id AS run, idx AS "index", 'has a second entry at the same index' AS reason, position
     FROM forks WHERE session_id = :session
     UNION ALL
     SELECT 'quarantined', run_id, idx, reason, position FROM quarantine WHERE session_id = :session
     ORDER BY position`,
  );
  return (session) => findings.all({ session }).map((row) => IntegrityFinding.parse(row));
}

/** Number of integrity findings in a record. */
export interface IntegrityReport {
  forked: number;
  quarantined: number;
  /** A session with a finding, or null if there is none. */
  session: string | null;
}

/**
 * Counts the integrity findings of a `troupe.db`. Another process can write to the file meanwhile. Returns null for a file
 * of a version that does not record them.
 *
 * @example
 * readIntegrity({ file: "/tmp/troupe/troupe.db" }); // { forked: 0, quarantined: 0, session: null }
 */
export function readIntegrity({ file }: { file: string }): IntegrityReport | null {
  return readRow<IntegrityReport>(
    file,
    `SELECT (SELECT count(*) FROM forks) AS forked, (SELECT count(*) FROM quarantine) AS quarantined,
       coalesce((SELECT session_id FROM forks LIMIT 1), (SELECT session_id FROM quarantine LIMIT 1)) AS session`,
  );
}

/** The origin of a record, and the position that it has reached. */
export interface RecordPosition extends RecordOrigin {
  position: number;
}

/**
 * Reads the origin and position of a `troupe.db`. Another process can write to the file meanwhile. Returns null for a file
 * of a version that does not record them.
 *
 * @example
 * readRecordOrigin({ file: "/tmp/troupe/troupe.db" })?.journal; // the id of the journal, or null
 */
export function readRecordOrigin({ file }: { file: string }): RecordPosition | null {
  return readRow<RecordPosition>(file, "SELECT journal, follower, position FROM origin, cursor");
}

function readRow<Row>(file: string, query: string): Row | null {
  return withTroupeErrors(() => {
    const database = openToRead(recordSpec(file));
    try {
      if (Number(database.pragma("user_version")) < originVersion) return null;
      return database.prepare<[], Row>(query).get() ?? null;
    } finally {
      database.close();
    }
  });
}
