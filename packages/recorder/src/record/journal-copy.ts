import { setImmediate as nextTurn } from "node:timers/promises";
import type { FeedItem } from "@troupe/core";
import type Database from "better-sqlite3";
import { type FeedRow, toFeedItem } from "../database/feed-row.ts";
import { type CopyInspection, createCopyInspector } from "./inspect-copy.ts";

/** The record's copy of its journal. A lost journal is restored from it. */
export interface JournalCopy {
  /**
   * Reads the whole copy and checks every hash and every chain. Do not resume a damaged session: calls without a recorded
   * outcome would be repeated.
   */
  inspect(options?: CopyOptions): Promise<CopyInspection>;
  /** The feed in recorded order. Of a forked run it has only the branch that counts. */
  items(options?: CopyOptions): AsyncGenerator<FeedItem[], void, undefined>;
}

export interface CopyOptions {
  /** Leaves out sessions that settled before this time. */
  settledSince?: Date;
  /** Sessions to leave out. */
  without?: ReadonlySet<string>;
}

interface ItemRow extends FeedRow {
  rowid: number;
}

const pageRowsMax = 500;

export function createJournalCopy(database: Database.Database): JournalCopy {
  const settledBefore = database
    .prepare<[string], string>("SELECT session_id FROM sessions WHERE completed_at < ?")
    .pluck();

  async function* items({ settledSince, without = new Set() }: CopyOptions = {}): AsyncGenerator<FeedItem[]> {
    const settled = new Set(settledSince ? settledBefore.all(settledSince.toISOString()) : []);
    const isOnSideBranch = createBranchFilter(database);
    const isIncluded = (row: ItemRow): boolean =>
      !settled.has(row.session) && !without.has(row.session) && !isOnSideBranch(row);
    let batch: FeedItem[] = [];
    for (const row of merged(entryRows(database), inboxRows(database))) {
      if (isIncluded(row)) batch.push(toFeedItem(row));
      if (batch.length < pageRowsMax) continue;
      yield batch;
      batch = [];
      // Lets the event loop run, so that the consumer can stop.
      await nextTurn();
    }
    if (batch.length > 0) yield batch;
  }

  return {
    items,
    async inspect(options) {
      const inspector = createCopyInspector();
      for await (const batch of items(options)) for (const item of batch) inspector.add(item);
      return inspector.result();
    },
  };
}

/** Merges two feeds by position. Each feed keeps its own order. */
function* merged(one: Generator<ItemRow>, other: Generator<ItemRow>): Generator<ItemRow> {
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

function entryRows(database: Database.Database): Generator<ItemRow> {
  return pages(
    database.prepare<[number], ItemRow>(
      `SELECT rowid, position, session_id AS session, run_id AS run, idx, text FROM entries
       WHERE rowid > ? ORDER BY rowid LIMIT ${pageRowsMax}`,
    ),
  );
}

function inboxRows(database: Database.Database): Generator<ItemRow> {
  return pages(
    database.prepare<[number], ItemRow>(
      `SELECT rowid, position, session_id AS session, NULL AS run, seq AS idx, text FROM inbox_items
       WHERE rowid > ? ORDER BY rowid LIMIT ${pageRowsMax}`,
    ),
  );
}

function* pages(page: Database.Statement<[number], ItemRow>): Generator<ItemRow> {
  for (let rows = page.all(0); rows.length > 0; rows = page.all(rows.at(-1)?.rowid ?? 0)) yield* rows;
}

/** Finds the entries of a forked run that do not count: the hash chain from the run's head does not contain them. */
function createBranchFilter(database: Database.Database): (row: ItemRow) => boolean {
  const forked = new Set(database.prepare<[], string>("SELECT run_id FROM forks").pluck().all());
  const hashes = database.prepare<[string], { hash: string; prev: string | null }>(
    "SELECT hash, json_extract(text, '$.prev') AS prev FROM entries WHERE run_id = ? ORDER BY idx DESC",
  );
  const headOfRun = database.prepare<[string], string>("SELECT head_hash FROM runs WHERE run_id = ?").pluck();
  const branches = new Map<string, Set<string>>();

  const branchOf = (run: string): Set<string> => {
    const known = branches.get(run);
    if (known) return known;
    const branch = new Set<string>();
    let next = headOfRun.get(run) ?? null;
    for (const { hash, prev } of hashes.all(run)) {
      if (hash !== next) continue;
      branch.add(hash);
      next = prev;
    }
    branches.set(run, branch);
    return branch;
  };

  return ({ run, text }) => run !== null && forked.has(run) && !branchOf(run).has(sealOf(text));
}

/** The hash at the end of an entry's text. */
function sealOf(text: string): string {
  return text.slice(-66, -2);
}
