import { CostGrouping, type CostRow } from "@troupe/core/internal";
import type { Database, SqlValue } from "../database/sqlite.ts";
import { addGroups, emptyGroups, nameOf } from "./queries/costs.ts";
import { ancestryOf, type FactRow, factColumns } from "./queries/run-facts.ts";

/**
 * The sums of sessions whose runs have all ended. No run has a parent in another session, so the sums of a whole record are
 * sums of these rows. A report adds the runs of other sessions one by one.
 */
export interface SessionCosts {
  /** Stores the sums of a session, or drops them while one of its runs is open. Call it after each change of its runs. */
  update(session: string): void;
  /** Stores the sums of some sessions of a record of an older version. Returns false if none is left. */
  fill(): boolean;
}

interface Known {
  id: number;
  is_summed: number;
}

/** Sessions per transaction: their sums take some milliseconds. */
const sessionsPerFill = 10;

export function createSessionCosts(database: Database): SessionCosts {
  const hasEnded = database.prepareValue<[string], number>(
    `SELECT 1 FROM sessions WHERE session_id = ? AND completed_at IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM runs r WHERE r.session_id = sessions.session_id AND r.exact_status NOT IN
         ('completed', 'failed', 'timeout', 'bailed_out', 'cancelled', 'rejected'))`,
  );
  const factsOf = database.prepare<[string], FactRow>(
    `SELECT ${factColumns} FROM runs r JOIN messages m ON m.id = r.message_id JOIN sessions s ON s.session_id = r.session_id
     WHERE r.session_id = ? ORDER BY r.seen`,
  );
  const known = database.prepare<[string], Known>("SELECT id, is_summed FROM summed_sessions WHERE session_id = ?");
  const begin = database.prepare<[string]>("INSERT INTO summed_sessions (session_id) VALUES (?)");
  const set = database.prepare<[number, string | null, string | null, number | null, number | null, number]>(
    "UPDATE summed_sessions SET is_summed = ?, first_at = ?, last_at = ?, offline = ?, runs = ? WHERE id = ?",
  );
  const drop = database.prepare<[number]>("DELETE FROM session_costs WHERE summed_id = ?");
  const insertSum = database.prepare<SqlValue[]>(
    `INSERT INTO session_costs (summed_id, grouping, place, name, own_runs, own_tokens, own_usd, own_unknown, own_estimated,
       all_runs, all_tokens, all_usd, all_unknown, all_estimated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const unsummed = database.prepareValue<[], string>(
    `SELECT u.session_id FROM summed_sessions u JOIN sessions s ON s.session_id = u.session_id
     WHERE u.is_summed = 0 AND s.completed_at IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM runs r WHERE r.session_id = u.session_id AND r.exact_status NOT IN
         ('completed', 'failed', 'timeout', 'bailed_out', 'cancelled', 'rejected'))
     LIMIT ${sessionsPerFill}`,
  );

  /** The id of a session stays the same, however often its sums change. */
  const rowOf = (session: string): Known => {
    const row = known.get(session);
    return row ?? { id: Number(begin.run(session).lastInsertRowid), is_summed: 0 };
  };
  const sum = (session: string): void => {
    const facts = factsOf.all(session);
    const times = facts.map(({ startedAt }) => startedAt).sort();
    const [first = "", last = first] = [times[0], times.at(-1)];
    const { id } = rowOf(session);
    drop.run(id);
    set.run(1, first, last, facts[0]?.isOffline ?? 0, facts.length, id);
    for (const by of CostGrouping.options) {
      const groups = emptyGroups();
      const above = ancestryOf(facts);
      for (const fact of facts) addGroups(groups, fact, above(fact), nameOf[by]);
      for (const [place, row] of [...groups.values()].entries()) {
        insertSum.run(id, by, place, ...columnsOf(row));
      }
    }
  };

  const update = (session: string): void => {
    if (hasEnded.get(session) === 1) {
      sum(session);
      return;
    }
    const { id, is_summed } = rowOf(session);
    if (is_summed === 0) return;
    drop.run(id);
    set.run(0, null, null, null, null, id);
  };

  return {
    update,
    fill: database.transaction(() => {
      const sessions = unsummed.all();
      for (const session of sessions) sum(session);
      return sessions.length > 0;
    }),
  };
}

function columnsOf({ name, own, subtree }: CostRow): SqlValue[] {
  const sums = [own, subtree].flatMap((each) => [
    each.runs,
    each.tokens,
    each.knownCostUsd,
    each.unknownRuns,
    each.estimatedTokens,
  ]);
  return [name, ...sums];
}
