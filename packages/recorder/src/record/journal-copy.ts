import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Entry, FeedItem } from "@troupe/core";
import { entryIsIntact, isTerminal, openEntry } from "@troupe/core/internal";
import { type FeedRow, toFeedItem } from "../database/feed-row.ts";
import type { Database, Statement } from "../database/sqlite.ts";

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

/** Result of a check of the record's copy of the journal. */
export interface CopyInspection {
  sessions: number;
  runs: number;
  /** Runs that have not settled. */
  open: number;
  items: number;
  damage: Damage[];
}

/** The first damaged or missing item of a run or an inbox. */
export interface Damage {
  session: string;
  /** Null for the session's inbox. */
  run: string | null;
  /** Index of the entry, or number of the inbox item. */
  index: number;
  reason: string;
}

interface ItemRow extends FeedRow {
  rowid: number;
}

const pageRowsMax = 500;

export function createJournalCopy(database: Database): JournalCopy {
  const settledBefore = database.prepareValue<[string], string>(
    "SELECT session_id FROM sessions WHERE completed_at < ?",
  );

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

function entryRows(database: Database): Generator<ItemRow> {
  return pages(
    database.prepare<[number], ItemRow>(
      `SELECT rowid, position, session_id AS session, run_id AS run, idx, text FROM entries
       WHERE rowid > ? ORDER BY rowid LIMIT ${pageRowsMax}`,
    ),
  );
}

function inboxRows(database: Database): Generator<ItemRow> {
  return pages(
    database.prepare<[number], ItemRow>(
      `SELECT rowid, position, session_id AS session, NULL AS run, seq AS idx, text FROM inbox_items
       WHERE rowid > ? ORDER BY rowid LIMIT ${pageRowsMax}`,
    ),
  );
}

function* pages(page: Statement<[number], ItemRow>): Generator<ItemRow> {
  for (let rows = page.all(0); rows.length > 0; rows = page.all(rows.at(-1)?.rowid ?? 0)) yield* rows;
}

/** Finds the entries of a forked run that do not count: the hash chain from the run's head does not contain them. */
function createBranchFilter(database: Database): (row: ItemRow) => boolean {
  const forked = new Set(database.prepareValue<[], string>("SELECT run_id FROM forks").all());
  const hashes = database.prepare<[string], { hash: string; prev: string | null }>(
    "SELECT hash, json_extract(text, '$.prev') AS prev FROM entries WHERE run_id = ? ORDER BY idx DESC",
  );
  const headOfRun = database.prepareValue<[string], string>("SELECT head_hash FROM runs WHERE run_id = ?");
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

type Defect = Pick<Damage, "index" | "reason">;

interface RunChain {
  index: number;
  hash: string | null;
  settled: boolean;
}

/** Follows every run and every inbox of a feed, and finds the first defect of each. */
export interface CopyInspector {
  add(item: FeedItem): void;
  result(): CopyInspection;
}

export function createCopyInspector(): CopyInspector {
  const runs = new Map<string, RunChain>();
  const inboxes = new Map<string, number>();
  const sessions = new Set<string>();
  const damage = new Map<string, Damage>();
  let items = 0;

  const findEntryDefect = (item: Extract<FeedItem, { kind: "entry" }>): Defect | null => {
    const { session, run, index, text } = item;
    const chain = runs.get(run) ?? { index: -1, hash: null, settled: false };
    if (index !== chain.index + 1) return { index: chain.index + 1, reason: "is missing" };
    if (!entryIsIntact(text, (open) => hash("sha256", open))) return { index, reason: "is damaged" };
    const entry = readEntry(text);
    if (!entry) return { index, reason: "cannot be read" };
    const isOwn = entry.session === session && entry.run === run && entry.index === index;
    if (!isOwn) return { index, reason: "belongs to another run or index" };
    if (entry.prev !== chain.hash) return { index, reason: "does not follow the previous entry" };
    runs.set(run, { index, hash: entry.hash, settled: isTerminal(entry) });
    return null;
  };

  const findInboxDefect = ({ session, seq }: Extract<FeedItem, { kind: "inbox" }>): Defect | null => {
    const next = (inboxes.get(session) ?? 0) + 1;
    if (seq !== next) return { index: next, reason: "is missing" };
    inboxes.set(session, seq);
    return null;
  };

  return {
    add(item) {
      items += 1;
      sessions.add(item.session);
      const [run, defect] = item.kind === "entry" ? [item.run, findEntryDefect(item)] : [null, findInboxDefect(item)];
      const key = run ?? `inbox ${item.session}`;
      if (defect && !damage.has(key)) damage.set(key, { session: item.session, run, ...defect });
    },
    result() {
      const open = [...runs.values()].filter(({ settled }) => !settled).length;
      return { sessions: sessions.size, runs: runs.size, open, items, damage: [...damage.values()] };
    },
  };
}

function readEntry(text: string): Entry | null {
  try {
    return openEntry(text);
  } catch {
    return null;
  }
}
