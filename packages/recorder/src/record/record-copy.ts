import { setImmediate as nextTurn } from "node:timers/promises";
import type { FeedItem } from "@troupe/core";
import type Database from "better-sqlite3";
import { type CopyInspection, createLineCheck } from "./line-check.ts";

/** What a record holds of its journal, to be put back where that was lost. */
export interface RecordCopy {
  /**
   * Reads all of it, and checks every hash and every chain. What is damaged is named; a session that has any of it must
   * not go on: calls whose outcome is missing would be made again.
   */
  inspect(options?: CopyOptions): Promise<CopyInspection>;
  /** The feed in the order in which it was recorded; of each run the line that counts. */
  items(options?: CopyOptions): AsyncGenerator<FeedItem[], void, undefined>;
}

export interface CopyOptions {
  /** Leaves out sessions that have settled before this time. */
  settledSince?: Date;
  /** Sessions that are left out. */
  without?: ReadonlySet<string>;
}

interface Row {
  rowid: number;
  position: number;
  session: string;
  run: string | null;
  idx: number;
  text: string;
}

const pageRowsMax = 500;

export function createRecordCopy(database: Database.Database): RecordCopy {
  const settledBefore = database
    .prepare<[string], string>("SELECT session_id FROM sessions WHERE completed_at < ?")
    .pluck();

  async function* items({ settledSince, without = new Set() }: CopyOptions = {}): AsyncGenerator<FeedItem[]> {
    const settled = new Set(settledSince ? settledBefore.all(settledSince.toISOString()) : []);
    const sideLines = createSideLines(database);
    const isWanted = (row: Row): boolean =>
      !settled.has(row.session) && !without.has(row.session) && !sideLines.has(row);
    let batch: FeedItem[] = [];
    for (const row of merged(entryRows(database), inboxRows(database))) {
      if (isWanted(row)) batch.push(toItem(row));
      if (batch.length < pageRowsMax) continue;
      yield batch;
      batch = [];
      // Others have to be able to say that it is enough.
      await nextTurn();
    }
    if (batch.length > 0) yield batch;
  }

  return {
    items,
    async inspect(options) {
      const check = createLineCheck();
      for await (const batch of items(options)) for (const item of batch) check.take(item);
      return check.result();
    },
  };
}

/** Rows of two feeds as one: by position, and each of them in the order in which it was recorded. */
function* merged(one: Generator<Row>, other: Generator<Row>): Generator<Row> {
  let [left, right] = [one.next(), other.next()];
  while (!left.done || !right.done) {
    const isLeft = !left.done && (right.done || left.value.position < right.value.position);
    if (isLeft && !left.done) {
      yield left.value;
      left = one.next();
    } else if (!right.done) {
      yield right.value;
      right = other.next();
    }
  }
}

function entryRows(database: Database.Database): Generator<Row> {
  return pages(
    database.prepare<[number], Row>(
      `SELECT rowid, position, session_id AS session, run_id AS run, idx, text FROM entries
       WHERE rowid > ? ORDER BY rowid LIMIT ${pageRowsMax}`,
    ),
  );
}

function inboxRows(database: Database.Database): Generator<Row> {
  return pages(
    database.prepare<[number], Row>(
      `SELECT rowid, position, session_id AS session, NULL AS run, seq AS idx, text FROM inbox_items
       WHERE rowid > ? ORDER BY rowid LIMIT ${pageRowsMax}`,
    ),
  );
}

function* pages(page: Database.Statement<[number], Row>): Generator<Row> {
  for (let rows = page.all(0); rows.length > 0; rows = page.all(rows.at(-1)?.rowid ?? 0)) yield* rows;
}

/** Of a run with two lines the one that counts goes back from the run's head. */
function createSideLines(database: Database.Database): { has(row: Row): boolean } {
  const forked = new Set(database.prepare<[], string>("SELECT run_id FROM forks").pluck().all());
  const hashes = database.prepare<[string], { hash: string; prev: string | null }>(
    "SELECT hash, json_extract(text, '$.prev') AS prev FROM entries WHERE run_id = ? ORDER BY idx DESC",
  );
  const headOfRun = database.prepare<[string], string>("SELECT head_hash FROM runs WHERE run_id = ?").pluck();
  const lines = new Map<string, Set<string>>();

  const lineOf = (run: string): Set<string> => {
    const known = lines.get(run);
    if (known) return known;
    const line = new Set<string>();
    let wanted = headOfRun.get(run) ?? null;
    for (const { hash, prev } of hashes.all(run)) {
      if (hash !== wanted) continue;
      line.add(hash);
      wanted = prev;
    }
    lines.set(run, line);
    return line;
  };

  return {
    has: ({ run, text }) => run !== null && forked.has(run) && !lineOf(run).has(sealOf(text)),
  };
}

/** The hash that an entry's text ends with. */
function sealOf(text: string): string {
  return text.slice(-66, -2);
}

function toItem({ position, session, run, idx, text }: Row): FeedItem {
  if (run === null) return { position, kind: "inbox", session, seq: idx, text };
  return { position, kind: "entry", session, run, index: idx, text };
}
