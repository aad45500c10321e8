import { type Entry, type FeedItem, InboxItem } from "@troupe/core";
import { beginsTurn, decodeText, type TurnRequested } from "@troupe/core/internal";
import { type Database, sqliteCodeOf } from "../database/sqlite.ts";
import { createApprovalTable } from "./approvals.ts";
import { createChangeTable } from "./changes.ts";
import { childUpdatesOf } from "./child-updates.ts";
import { createEntryClassifier, type EntryItem, itemHash } from "./classify-entry.ts";
import { recordOfRequest } from "./new-run-record.ts";
import { isClosed, project } from "./projection.ts";
import { itemProblem, type RecordProblem } from "./record-problem.ts";
import type { RunRecord } from "./run-columns.ts";
import { createRunTable } from "./run-table.ts";
import { createSessionCosts } from "./session-costs.ts";
import { createSessionTable } from "./sessions.ts";
import { earlier } from "./time.ts";
import { toolCallMessage } from "./tool-call-messages.ts";

type InboxFeedItem = Extract<FeedItem, { kind: "inbox" }>;

export interface Writer {
  /** Writes the rows and the cursor in one transaction. Known items change nothing. */
  write(items: readonly FeedItem[]): Written;
  cursor(): Cursor;
  origin(): RecordOrigin;
  /** Makes this record follow the journal with that id. */
  adopt(journal: string): void;
  /** Drops rows that are in memory: another statement has changed the tables. */
  forget(): void;
  /** Sums some sessions of a record of an older version. Returns false if none is left. */
  fillCosts(): boolean;
  /** Moves the cursor back to the beginning. Known items change nothing. */
  rewind(): void;
}

/** The journal that a record follows. */
export interface RecordOrigin {
  /** Id of the journal. Null for a new record, and for a record of a version without journal ids. */
  journal: string | null;
  /** The record's name in the journal. It stays the same for the lifetime of the file. */
  follower: string;
}

/** The changes of one transaction. */
export interface Written {
  sessions: ReadonlySet<string>;
  runs: ReadonlySet<string>;
  approvals: ReadonlySet<string>;
  problems: RecordProblem[];
}

export interface Cursor {
  position: number;
  /** Hash of the item at the position. Null if no item was recorded. */
  mark: string | null;
}

export function createWriter(database: Database): Writer {
  const runs = createRunTable(database);
  const sessions = createSessionTable(database);
  const approvals = createApprovalTable(database);
  const changes = createChangeTable(database);
  const costs = createSessionCosts(database);
  const classify = createEntryClassifier(database);
  const insertEntry = database.prepare<[number, string, string, number, string, string]>(
    "INSERT OR IGNORE INTO entries (position, session_id, run_id, idx, hash, text) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const insertInboxItem = database.prepare<[number, string, number, string]>(
    "INSERT OR IGNORE INTO inbox_items (position, session_id, seq, text) VALUES (?, ?, ?, ?)",
  );
  const insertQuarantined = database.prepare<[number, string, string | null, number, string, string]>(
    "INSERT OR IGNORE INTO quarantine (position, session_id, run_id, idx, reason, text) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const insertFork = database.prepare<[string, string, number, number]>(
    "INSERT OR IGNORE INTO forks (run_id, session_id, idx, position) VALUES (?, ?, ?, ?)",
  );
  const readCursor = database.prepare<[], Cursor>("SELECT position, mark FROM cursor");
  const moveCursor = database.prepare<[number, string]>("UPDATE cursor SET position = ?, mark = ?");
  const readOrigin = database.prepare<[], RecordOrigin>("SELECT journal, follower FROM origin");
  const adopt = database.prepare<[string]>("UPDATE origin SET journal = ?");
  const rewind = database.prepare<[]>("UPDATE cursor SET position = 0, mark = NULL");
  const changedSessions = new Map<string, number>();
  const changedApprovals = new Set<string>();
  let problems: RecordProblem[] = [];

  const quarantine = (item: FeedItem, reason: string): void => {
    const { position, session, text } = item;
    const [run, index] = item.kind === "entry" ? [item.run, item.index] : [null, item.seq];
    insertQuarantined.run(position, session, run, index, reason, text);
    problems.push(itemProblem("quarantined", { position, session, run, index }, reason));
  };

  const writeEntry = (item: EntryItem): void => {
    const known = runs.get(item.run);
    const found = classify(item, known);
    if (found.kind === "bad") quarantine(item, found.reason);
    if (found.kind === "next") applyEntry(item, found.entry, known);
    if (found.kind === "fork") storeEntry(item, found.entry);
    if (found.kind === "fork" && found.isFirst) reportFork(item);
  };

  /** Reports each forked run once. */
  const reportFork = (item: EntryItem): void => {
    if (insertFork.run(item.run, item.session, item.index, item.position).changes === 0) return;
    changedSessions.set(item.session, item.position);
    problems.push(itemProblem("forked", item, "is the second entry at this index: the run has forked"));
  };

  const applyEntry = (item: EntryItem, entry: Entry, before: RunRecord | null): void => {
    const after = project(before, entry);
    storeEntry(item, entry);
    if (!after) return;
    setRun({ ...after, position: item.position });
    if (before && isClosed(before)) return;
    if (entry.kind === "tool.finished") addToolCall(after, entry);
    if (entry.kind === "run.opened" && after.parentRun === null) sessions.setRoot(entry.request, item.position);
    for (const { run, apply } of childUpdatesOf(after, entry)) {
      const child = apply(runs.get(run));
      if (child) setRun({ ...child, position: item.position });
    }
    writeApprovals(item, entry, before, after);
  };

  const addToolCall = (after: RunRecord, entry: Entry & { kind: "tool.finished" }): void => {
    changes.add(after, entry);
    const message = toolCallMessage(after, entry);
    if (message) runs.addToolCall(message);
  };

  const writeApprovals = ({ position }: EntryItem, entry: Entry, before: RunRecord | null, after: RunRecord): void => {
    if (entry.kind === "approval.requested") {
      const { approval, at } = entry;
      setApprovals(approvals.request(after, approval, at, position), after.session, position);
    }
    if (before === null || before.pendingApprovals.length === 0) return;
    // An answer has already closed its row: it came through the inbox.
    const isPending = (id: string): boolean => after.pendingApprovals.some(({ approval }) => approval === id);
    for (const { approval } of before.pendingApprovals) {
      if (!isPending(approval)) setApprovals(approvals.withdraw(approval, position), after.session, position);
    }
  };

  const storeEntry = ({ position, session, run, index, text }: EntryItem, { hash }: Entry): void => {
    insertEntry.run(position, session, run, index, hash, text);
  };

  const writeInboxItem = (item: InboxFeedItem): void => {
    const command = decodeText(InboxItem, item.text, "inbox item");
    const requested = beginsTurn(command) ? recordOfRequest(command.request, command.at, command.team) : null;
    if (command.session !== item.session || (requested && requested.session !== item.session)) {
      throw new Error("belongs to another session");
    }
    const { changes } = insertInboxItem.run(item.position, item.session, item.seq, item.text);
    if (changes === 0) return;
    // Readers of the session look for its undos again.
    if (command.kind === "undo.planned" || command.kind === "undo.finished") {
      changedSessions.set(item.session, item.position);
    }
    if (requested && beginsTurn(command)) beginTurn(command, requested, item.position);
    if (command.kind === "approval.answered") {
      const pending = runs.get(command.run)?.pendingApprovals ?? [];
      setApprovals(approvals.answer(command, pending, item.position), command.session, item.position);
    }
  };

  const beginTurn = (turn: TurnRequested, requested: RunRecord, position: number): void => {
    const known = runs.get(requested.run) ?? requested;
    const startedAt = earlier(known.startedAt, requested.startedAt);
    setRun({ ...known, startedAt, position });
    sessions.setRoot(turn.request, position);
    sessions.setOrigin(turn.request, turn.origin, turn.demo);
  };

  const setRun = (record: RunRecord): void => {
    changedSessions.set(record.session, record.position);
    runs.set(record);
  };

  const setApprovals = (ids: readonly string[], session: string, position: number): void => {
    if (ids.length > 0) changedSessions.set(session, position);
    for (const id of ids) changedApprovals.add(id);
  };

  const writeItem = (item: FeedItem): void => {
    try {
      if (item.kind === "entry") writeEntry(item);
      else writeInboxItem(item);
    } catch (thrown) {
      // A database error is not the item's fault: the whole batch is retried.
      if (sqliteCodeOf(thrown) !== null) throw thrown;
      quarantine(item, thrown instanceof Error ? thrown.message : String(thrown));
    }
  };

  const writeAll = database.transaction((items: readonly FeedItem[]): Written => {
    const before = readCursor.get()?.position ?? 0;
    const fresh = items.filter(({ position }) => position > before);
    for (const item of fresh) writeItem(item);
    for (const [session, position] of changedSessions) sessions.touch(session, position);
    const written = runs.flush();
    for (const record of written) if (record.parentRun === null) sessions.setProgress(record);
    for (const session of changedSessions.keys()) costs.update(session);
    const last = fresh.at(-1);
    if (last) moveCursor.run(last.position, itemHash(last));
    return {
      sessions: new Set(changedSessions.keys()),
      runs: new Set(written.map(({ run }) => run)),
      approvals: new Set(changedApprovals),
      problems,
    };
  });

  return {
    write(items) {
      problems = [];
      changedSessions.clear();
      changedApprovals.clear();
      try {
        return writeAll(items);
      } catch (thrown) {
        runs.forget();
        throw thrown;
      }
    },
    cursor: () => readCursor.get() ?? { position: 0, mark: null },
    origin() {
      const origin = readOrigin.get();
      if (!origin) throw new Error("the record has no row in its table origin");
      return origin;
    },
    adopt: (journal) => void adopt.run(journal),
    forget: () => runs.forget(),
    fillCosts: costs.fill,
    rewind: () => void rewind.run(),
  };
}
