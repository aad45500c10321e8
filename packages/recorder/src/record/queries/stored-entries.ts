import type { Entry } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import type { Database } from "../../database/sqlite.ts";

/** An entry of a run. Null if this version cannot read its text. */
export interface StoredEntry {
  index: number;
  entry: Entry | null;
  characters: number;
}

/** Reads the entries of a run in order. Of a run with two branches it reads the one that was recorded first. */
export function createEntryReader(database: Database): (run: string, from: number) => Generator<StoredEntry> {
  const page = database.prepare<[string, number], { idx: number; text: string }>(
    "SELECT idx, text FROM entries WHERE run_id = ? AND idx >= ? ORDER BY idx, position LIMIT 50",
  );
  return function* entriesOf(run, from) {
    for (let next = from; ; ) {
      const rows = page.all(run, next);
      for (const { idx, text } of rows) {
        if (idx < next) continue;
        next = idx + 1;
        yield { index: idx, entry: readEntry(text), characters: text.length };
      }
      if (rows.length === 0) return;
    }
  };
}

function readEntry(text: string): Entry | null {
  try {
    return openEntry(text);
  } catch {
    return null;
  }
}
