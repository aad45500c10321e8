import { type Entry, type FeedItem, InboxItem } from "@troupe/core";
import { beginsTurn, decodeText, type TurnRequested } from "@troupe/core/internal";
import type Database from "better-sqlite3";
import { createApprovalTable } from "./approval-table.ts";
import { createChangeTable } from "./change-table.ts";
import type { RunDraft } from "./draft.ts";
import { createDraftTable } from "./draft-table.ts";
import { createDrafts } from "./drafts.ts";
import { createEntryCheck, type EntryItem, markOf } from "./entry-check.ts";
import { childUpdatesOf } from "./hearsay.ts";
import { draftOfRequest } from "./new-draft.ts";
import { itemProblem, type RecordProblem } from "./problem.ts";
import { isClosed, project } from "./projection.ts";
import { createSessionTable } from "./session-table.ts";
import { earlier } from "./time.ts";

type InboxFeedItem = Extract<FeedItem, { kind: "inbox" }>;

export interface Writer {
  /** One transaction: the rows, and then how far they go. What the record has already changes nothing. */
  write(items: readonly FeedItem[]): Written;
  cursor(): Cursor;
  origin(): Origin;
  /** From now on a copy of that journal. */
  adopt(journal: string): void;
  /** The journal will be read anew from its beginning: what is known already changes nothing. */
  rewind(): void;
}

/** Whose copy a record is. */
export interface Origin {
  /** Id of the journal; null where nothing was recorded yet, or by a troupe that did not keep it. */
  journal: string | null;
  /** Name under which the journal knows this copy, for as long as the file lives. */
  follower: string;
}

export interface Written {
  sessions: ReadonlySet<string>;
  runs: ReadonlySet<string>;
  approvals: ReadonlySet<string>;
  problems: RecordProblem[];
}

export interface Cursor {
  position: number;
  /** Hash of the item at the position; null at the very beginning. */
  mark: string | null;
}

export function createWriter(database: Database.Database): Writer {
  const drafts = createDrafts(createDraftTable(database));
  const sessions = createSessionTable(database);
  const approvals = createApprovalTable(database);
  const changes = createChangeTable(database);
  const check = createEntryCheck(database);
  const keepEntryText = database.prepare<[number, string, string, number, string, string]>(
    "INSERT OR IGNORE INTO entries (position, session_id, run_id, idx, hash, text) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const keepInboxText = database.prepare<[number, string, number, string]>(
    "INSERT OR IGNORE INTO inbox_items (position, session_id, seq, text) VALUES (?, ?, ?, ?)",
  );
  const setAside = database.prepare<[number, string, string | null, number, string, string]>(
    "INSERT OR IGNORE INTO quarantine (position, session_id, run_id, idx, reason, text) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const readCursor = database.prepare<[], Cursor>("SELECT position, mark FROM cursor");
  const moveCursor = database.prepare<[number, string]>("UPDATE cursor SET position = ?, mark = ?");
  const readOrigin = database.prepare<[], Origin>("SELECT journal, follower FROM origin");
  const adopt = database.prepare<[string]>("UPDATE origin SET journal = ?");
  const rewind = database.prepare<[]>("UPDATE cursor SET position = 0, mark = NULL");
  const keepFork = database.prepare<[string, string, number, number]>(
    "INSERT OR IGNORE INTO forks (run_id, session_id, idx, position) VALUES (?, ?, ?, ?)",
  );
  const touched = new Map<string, number>();
  const touchedApprovals = new Set<string>();
  let problems: RecordProblem[] = [];

  const quarantine = (item: FeedItem, reason: string): void => {
    const { position, session, text } = item;
    const [run, index] = item.kind === "entry" ? [item.run, item.index] : [null, item.seq];
    setAside.run(position, session, run, index, reason, text);
    problems.push(itemProblem("quarantined", { position, session, run, index }, reason));
  };

  const keepEntry = (item: EntryItem): void => {
    const draft = drafts.get(item.run);
    const verdict = check(item, draft);
    if (verdict.kind === "bad") quarantine(item, verdict.reason);
    if (verdict.kind === "next") advance(item, verdict.entry, draft);
    if (verdict.kind === "fork") keepText(item, verdict.entry);
    if (verdict.kind === "fork" && verdict.alarm) raiseAlarm(item);
  };

  /** Once for each run, whichever of its entries have company. */
  const raiseAlarm = (item: EntryItem): void => {
    if (keepFork.run(item.run, item.session, item.index, item.position).changes === 0) return;
    touched.set(item.session, item.position);
    problems.push(itemProblem("forked", item, "stands beside another one: the run has forked"));
  };

  const advance = (item: EntryItem, entry: Entry, draft: RunDraft | null): void => {
    const after = project(draft, entry);
    keepText(item, entry);
    if (!after) return;
    remember({ ...after, position: item.position });
    if (draft && isClosed(draft)) return;
    if (entry.kind === "tool.finished") changes.keep(after, entry);
    if (entry.kind === "run.opened" && after.parentRun === null) sessions.keepRoot(entry.request, item.position);
    for (const { run, apply } of childUpdatesOf(after, entry)) {
      const other = apply(drafts.get(run));
      if (other) remember({ ...other, position: item.position });
    }
    keepQuestions(item, entry, draft, after);
  };

  const keepQuestions = ({ position }: EntryItem, entry: Entry, before: RunDraft | null, after: RunDraft): void => {
    if (entry.kind === "approval.requested") {
      const { approval, at } = entry;
      touchApprovals(approvals.ask(after, approval, at, position), after.session, position);
    }
    if (before === null || before.asks.length === 0) return;
    // An answer has closed its row already, when it came into the inbox.
    const left = before.asks.filter(({ approval }) => after.asks.every((ask) => ask.approval !== approval));
    for (const { approval } of left) {
      touchApprovals(approvals.withdraw(approval, position), after.session, position);
    }
  };

  const keepText = ({ position, session, run, index, text }: EntryItem, { hash }: Entry): void => {
    keepEntryText.run(position, session, run, index, hash, text);
  };

  const keepInboxItem = (item: InboxFeedItem): void => {
    const wish = decodeText(InboxItem, item.text, "inbox item");
    const asked = beginsTurn(wish) ? draftOfRequest(wish.request, wish.at) : null;
    if (wish.session !== item.session || (asked && asked.session !== item.session)) {
      throw new Error("belongs to another session");
    }
    const { changes } = keepInboxText.run(item.position, item.session, item.seq, item.text);
    if (changes === 0) return;
    if (asked && beginsTurn(wish)) ask(wish, asked, item.position);
    if (wish.kind === "approval.answered") {
      touchApprovals(approvals.answer(wish, item.position), wish.session, item.position);
    }
  };

  const ask = (wish: TurnRequested, asked: RunDraft, position: number): void => {
    const known = drafts.get(asked.run) ?? asked;
    const startedAt = earlier(known.startedAt, asked.startedAt);
    remember({ ...known, startedAt, position });
    sessions.keepRoot(wish.request, position);
    sessions.keepOrigin(wish.request, wish.origin, wish.demo);
  };

  const remember = (draft: RunDraft): void => {
    touched.set(draft.session, draft.position);
    drafts.set(draft);
  };

  const touchApprovals = (ids: readonly string[], session: string, position: number): void => {
    if (ids.length > 0) touched.set(session, position);
    for (const id of ids) touchedApprovals.add(id);
  };

  const keep = (item: FeedItem): void => {
    try {
      if (item.kind === "entry") keepEntry(item);
      else keepInboxItem(item);
    } catch (thrown) {
      // What the database says is not the item's fault: the whole batch has to be tried again.
      if (isSqliteError(thrown)) throw thrown;
      quarantine(item, thrown instanceof Error ? thrown.message : String(thrown));
    }
  };

  const writeAll = database.transaction((items: readonly FeedItem[]): Written => {
    const before = readCursor.get()?.position ?? 0;
    const fresh = items.filter(({ position }) => position > before);
    for (const item of fresh) keep(item);
    for (const [session, position] of touched) sessions.touch(session, position);
    const changed = drafts.flush();
    for (const draft of changed) if (draft.parentRun === null) sessions.keepProgress(draft);
    const last = fresh.at(-1);
    if (last) moveCursor.run(last.position, markOf(last));
    return {
      sessions: new Set(touched.keys()),
      runs: new Set(changed.map(({ run }) => run)),
      approvals: new Set(touchedApprovals),
      problems,
    };
  });

  return {
    write(items) {
      problems = [];
      touched.clear();
      touchedApprovals.clear();
      try {
        return writeAll.immediate(items);
      } catch (thrown) {
        drafts.forget();
        throw thrown;
      }
    },
    cursor: () => readCursor.get() ?? { position: 0, mark: null },
    origin() {
      const origin = readOrigin.get();
      if (!origin) throw new Error("the record does not know whose copy it is");
      return origin;
    },
    adopt: (journal) => void adopt.run(journal),
    rewind: () => void rewind.run(),
  };
}

function isSqliteError(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && String(thrown.code).startsWith("SQLITE_");
}
