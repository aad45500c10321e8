import type { Entry } from "@troupe/core";
import type Database from "better-sqlite3";
import type { RunDraft } from "./draft.ts";
import { toIso } from "./time.ts";

/** Longer ones are cut: tools cut theirs far below. */
const diffCharactersMax = 256 * 1024;

type Values = Record<string, string | number | null>;

/** Keeps what calls have done to files, one row for each file. */
export interface ChangeTable {
  keep(of: RunDraft, entry: Entry & { kind: "tool.finished" }): void;
}

export function createChangeTable(database: Database.Database): ChangeTable {
  const insert = database.prepare<[Values]>(
    `INSERT INTO changes
       (session_id, run_id, agent, step, call, tool, path, kind, version_before, version_after,
        lines_added, lines_removed, diff, cut, diff_ref, at)
     VALUES (@session, @run, @agent, @step, @call, @tool, @path, @kind, @before, @after,
        @linesAdded, @linesRemoved, @diff, @cut, @diffRef, @at)`,
  );
  return {
    keep({ session, run, agent }, { step, call, tool, outcome, at }) {
      for (const change of outcome.changes) {
        const diff = change.diff.slice(0, diffCharactersMax);
        const cut = change.diffRef !== null || diff.length < change.diff.length ? 1 : 0;
        insert.run({ ...change, session, run, agent, step, call, tool, diff, cut, at: toIso(at) });
      }
    },
  };
}
