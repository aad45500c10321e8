import { ChangeRow, type Entry } from "@troupe/core";
import type { Database, SqlValue } from "../database/sqlite.ts";
import type { RunRecord } from "./run-columns.ts";
import { toIso } from "./time.ts";

/** Cuts longer diffs. The tools cut theirs far below this length. */
const diffCharactersMax = 256 * 1024;

type Values = Record<string, SqlValue>;

/** Writes the rows of `changes`: one row for each file that a tool call changed. */
export interface ChangeTable {
  add(run: RunRecord, entry: Entry & { kind: "tool.finished" }): void;
}

export function createChangeTable(database: Database): ChangeTable {
  const insert = database.prepare<[Values]>(
    `INSERT INTO changes
       (session_id, run_id, agent, step, call, tool, path, kind, version_before, version_after,
        lines_added, lines_removed, diff, cut, diff_ref, runs_later, at)
     VALUES (@session, @run, @agent, @step, @call, @tool, @path, @kind, @before, @after,
        @linesAdded, @linesRemoved, @diff, @cut, @diffRef, @runsLater, @at)`,
  );
  return {
    add({ session, run, agent }, { step, call, tool, outcome, at }) {
      for (const change of outcome.changes) {
        const { path, kind, before, after, linesAdded, linesRemoved, diffRef, runsLater = null } = change;
        const diff = change.diff.slice(0, diffCharactersMax);
        const cut = diffRef !== null || diff.length < change.diff.length ? 1 : 0;
        const shown = { path, kind, before, after, linesAdded, linesRemoved, diff, cut, diffRef, runsLater };
        insert.run({ ...shown, session, run, agent, step, call, tool, at: toIso(at) });
      }
    },
  };
}

/** The API row of a row of `changes`. */
export function toChangeRow(row: Values): ChangeRow {
  return ChangeRow.parse({
    id: row.id,
    session: row.session_id,
    run: row.run_id,
    agent: row.agent,
    step: row.step,
    call: row.call,
    tool: row.tool,
    path: row.path,
    kind: row.kind,
    linesAdded: row.lines_added,
    linesRemoved: row.lines_removed,
    diff: row.diff,
    cut: row.cut === 1,
    at: row.at,
    ...(row.runs_later === null ? {} : { runsLater: row.runs_later }),
  });
}
