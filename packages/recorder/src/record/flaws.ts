import { IntegrityFinding } from "@troupe/core/internal";
import type Database from "better-sqlite3";
import { openToRead } from "../database/open.ts";
import { inTroupeWords } from "../database/troupe-error.ts";
import type { Stored } from "./rows.ts";
import { recordSpec } from "./schema.ts";
import type { Origin } from "./writer.ts";

/** What is wrong with what is known of a session, in the order in which it came. */
export function createIntegrityLog(database: Database.Database): (session: string) => IntegrityFinding[] {
  const flaws = database.prepare<{ session: string }, Stored>(
    `SELECT 'forked' AS kind, run_id AS run, idx AS "index", 'stands beside another one' AS reason, position
     FROM forks WHERE session_id = :session
     UNION ALL
     SELECT 'quarantined', run_id, idx, reason, position FROM quarantine WHERE session_id = :session
     ORDER BY position`,
  );
  return (session) => flaws.all({ session }).map((row) => IntegrityFinding.parse(row));
}

export interface IntegrityReport {
  forked: number;
  quarantined: number;
  /** One session that has any of it. */
  session: string | null;
}

/** Whether a sound file `troupe.db` has flaws in what it says; null where it is of a version that does not tell. */
export function readIntegrity({ file }: { file: string }): IntegrityReport | null {
  return inTroupeWords(() => {
    const database = openToRead(recordSpec(file));
    try {
      if (Number(database.pragma("user_version", { simple: true })) < flawsVersion) return null;
      const row = database
        .prepare<[], IntegrityReport>(
          `SELECT (SELECT count(*) FROM forks) AS forked, (SELECT count(*) FROM quarantine) AS quarantined,
             coalesce((SELECT session_id FROM forks LIMIT 1), (SELECT session_id FROM quarantine LIMIT 1)) AS session`,
        )
        .get();
      return row ?? null;
    } finally {
      database.close();
    }
  });
}

/** How far a record goes, and of which journal. */
export interface RecordOrigin extends Origin {
  position: number;
}

/** Whose copy a file `troupe.db` is; null where it is of a version that does not tell. Whoever owns it may be at work. */
export function readRecordOrigin({ file }: { file: string }): RecordOrigin | null {
  return inTroupeWords(() => {
    const database = openToRead(recordSpec(file));
    try {
      if (Number(database.pragma("user_version", { simple: true })) < flawsVersion) return null;
      return database.prepare<[], RecordOrigin>("SELECT journal, follower, position FROM origin, cursor").get() ?? null;
    } finally {
      database.close();
    }
  });
}

/** Before this version forks were in no table of their own. */
const flawsVersion = 5;
