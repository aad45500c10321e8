import type { Database } from "../database/sqlite.ts";
import type { Write, WriteResult } from "./thread-messages.ts";

type SessionWrite = Extract<Write, { kind: "session" | "remove" }>;

/** Stores and deletes whole sessions. The caller runs it in a transaction. */
export function createSessionWriter(database: Database): (write: SessionWrite) => WriteResult {
  const stored = database.prepare<[string, string], { run: string | null; idx: number; text: string }>(
    `SELECT position, run, idx, text FROM feed WHERE run IN (SELECT run FROM runs WHERE session = ?)
     UNION ALL SELECT position, run, idx, text FROM feed WHERE run IS NULL AND session = ? ORDER BY position`,
  );
  const insert = database.prepare<[string, string | null, number, string]>(
    "INSERT INTO feed (session, run, idx, text) VALUES (?, ?, ?, ?)",
  );
  const insertRun = database.prepare<[string, string, number, number]>(
    "INSERT INTO runs (session, run, last_index, terminal) VALUES (?, ?, ?, ?)",
  );
  const ownerOf = database.prepareValue<[string], string>("SELECT session FROM runs WHERE run = ?");
  const lastOf = database.prepareValue<[string, string], number | null>(
    `SELECT max(position) FROM (SELECT position FROM feed WHERE run IN (SELECT run FROM runs WHERE session = ?)
     UNION ALL SELECT position FROM feed WHERE run IS NULL AND session = ?)`,
  );
  const openRunsOf = database.prepareValue<[string], number>("SELECT id FROM runs WHERE session = ? AND terminal = 0");
  const remember = database.prepare<[string, number]>(
    "INSERT OR REPLACE INTO removed (session, last_position) VALUES (?, ?)",
  );
  const forget = database.prepare<[string]>("DELETE FROM removed WHERE session = ?");
  const deleteEntries = database.prepare<[string]>(
    "DELETE FROM feed WHERE run IN (SELECT run FROM runs WHERE session = ?)",
  );
  const deleteInbox = database.prepare<[string]>("DELETE FROM feed WHERE run IS NULL AND session = ?");
  const deleteRuns = database.prepare<[string]>("DELETE FROM runs WHERE session = ?");

  const isSame = ({ session, items }: SessionWrite & { kind: "session" }): boolean => {
    const known = stored.all(session, session);
    return (
      known.length === items.length &&
      items.every(({ run, index, text }, i) => {
        const row = known[i];
        return row?.run === run && row.idx === index && row.text === text;
      })
    );
  };
  const add = (write: SessionWrite & { kind: "session" }): WriteResult => {
    const { session, items, runs } = write;
    const isKnown = lastOf.get(session, session) != null;
    if (isKnown) return isSame(write) ? { kind: "known" } : { kind: "conflict", lastIndex: -1 };
    if (runs.some(({ run }) => ownerOf.get(run) !== undefined)) return { kind: "conflict", lastIndex: -1 };
    let position = 0;
    for (const [i, { run, index, text }] of items.entries()) {
      const { lastInsertRowid } = insert.run(session, run, index, text);
      if (i === 0) position = Number(lastInsertRowid);
    }
    for (const { run, lastIndex, terminal } of runs) insertRun.run(session, run, lastIndex, terminal ? 1 : 0);
    forget.run(session);
    return { kind: "stored", position, index: 0 };
  };
  const remove = ({ sessions }: SessionWrite & { kind: "remove" }): WriteResult => {
    for (const session of sessions) {
      const last = lastOf.get(session, session);
      if (last == null || openRunsOf.get(session) !== undefined) continue;
      remember.run(session, last);
      deleteEntries.run(session);
      deleteInbox.run(session);
      deleteRuns.run(session);
    }
    return { kind: "known" };
  };
  return (write) => (write.kind === "session" ? add(write) : remove(write));
}
