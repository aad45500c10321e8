import type { Worker } from "node:worker_threads";
import { type FeedItem, InboxItem, type Journal, TroupeError } from "@troupe/core";
import { beginsTurn, decodeText, type RunAppend } from "@troupe/core/internal";
import { type FeedRow, toFeedItem } from "../database/feed-row.ts";
import { openToRead } from "../database/open-database.ts";
import { withTroupeErrors } from "../database/troupe-error.ts";
import { preventCheckpoint } from "./hold-open.ts";
import { journalSpec, type RestoredJournalFile } from "./journal-store.ts";
import { startJournalWorker } from "./journal-worker.ts";
import { createLiveFeed } from "./live-feed.ts";
import { connectToThread, type JournalThread } from "./thread-client.ts";
import type { Write, WriteResult } from "./thread-messages.ts";

export interface SqliteJournalOptions {
  file: string;
  /** Makes a new file replace a lost journal: it gets that id, and continues after that position. */
  restored?: RestoredJournalFile;
  /**
   * Called when the file may not store anything correctly any more, such as after a failed sync. Every later call is rejected,
   * so a process that only serves this journal should exit. @default the errors of the calls are the only sign
   */
  onBroken?: (error: TroupeError) => void;
}

/**
 * Opens the journal in one SQLite file, with its own thread for writes. A resolved append survives a power cut. Appends of
 * the same moment share one transaction; each of them is checked separately.
 *
 * Rejects with `DATABASE_TOO_NEW`, `DATABASE_DAMAGED` or `HOME_UNWRITABLE` when the file cannot be used.
 *
 * @example
 * const journal = await openSqliteJournal({ file: "/tmp/troupe/journal.db" });
 * await journal.openRuns(); // []
 * await journal.close();
 */
export function openSqliteJournal({ file, restored, onBroken }: SqliteJournalOptions): Promise<Journal> {
  return openJournalOn(startJournalWorker(file, restored), file, onBroken);
}

/** @internal Opens the journal on a given thread, so that a test can kill it. */
export async function openJournalOn(
  worker: Worker,
  file: string,
  onBroken: (error: TroupeError) => void = () => {},
): Promise<Journal> {
  const thread: JournalThread = await connectToThread(worker, file, {
    onStored: (writes) => feed.publish(writes.flatMap(toFeedItems)),
    onCrash: (error) => feed.end(error),
    onBroken: (error) => {
      preventCheckpoint(file);
      onBroken(error);
    },
  });
  const feed = createLiveFeed(thread.tailAtOpen, async (after) => {
    const rows = await thread.read({ kind: "feed", after });
    return rows.map(toFeedItem);
  });

  return {
    id: async () => thread.journalId,
    checkpoint: async () => {},
    async append(append) {
      checkIndexes(append);
      const { session, run, after, terminal } = append;
      const texts = append.entries.map(({ text }) => text);
      const result = await thread.write({ kind: "entries", session, run, after, texts, terminal });
      if (result.kind === "conflict") return { ok: false, reason: "conflict", lastIndex: result.lastIndex };
      return { ok: true };
    },
    readRun: (_session, run, from = 0) => thread.read({ kind: "run", run, from }),
    lastOf: (_session, run) => thread.read({ kind: "last", run }),
    async appendInbox(item) {
      const opens = beginsTurn(item) ? item.request.run : null;
      const text = JSON.stringify(item);
      const result = await thread.write({ kind: "inbox", session: item.session, text, opens });
      if (result.kind !== "stored")
        throw new TroupeError("INTERNAL", `the inbox of session ${item.session} refused an item`);
      return { seq: result.index };
    },
    async readInbox(session, afterSeq = 0) {
      const rows = await thread.read({ kind: "inbox", session, after: afterSeq });
      return rows.map(({ seq, text }) => ({ seq, item: decodeText(InboxItem, text, "inbox item") }));
    },
    archive: {
      async add({ session, items, runs }) {
        const result = await thread.write({ kind: "session", session, items: [...items], runs: [...runs] });
        return result.kind === "stored" ? "added" : result.kind;
      },
      async remove(sessions) {
        await thread.write({ kind: "remove", session: null, sessions: [...sessions] });
      },
      removed: () => thread.read({ kind: "removed" }),
    },
    openRuns: (of) => thread.read({ kind: "openRuns", session: of?.session ?? null }),
    tail: async () => feed.tail(),
    watch: (options) => feed.watch(options),
    async close() {
      const closed = thread.close();
      feed.end(null);
      await closed;
    },
  };
}

function checkIndexes({ run, after, entries }: RunAppend): void {
  const wrong = entries.find(({ index }, i) => index !== after + 1 + i);
  if (!wrong) return;
  throw new TroupeError("INVALID_MESSAGE", `entry ${wrong.index} of run ${run} is not numbered from ${after + 1} on`);
}

function toFeedItems({ write, result }: { write: Write; result: WriteResult }): FeedItem[] {
  if (result.kind !== "stored") return [];
  const { position, index } = result;
  if (write.kind === "remove") return [];
  const { session } = write;
  if (write.kind === "session") {
    return write.items.map(({ run, index, text }, i) =>
      toFeedItem({ position: position + i, session, run, idx: index, text }),
    );
  }
  if (write.kind === "inbox") return [{ position, kind: "inbox", session, seq: index, text: write.text }];
  const { run } = write;
  return write.texts.map((text, i) => ({
    position: position + i,
    kind: "entry",
    session,
    run,
    index: index + i,
    text,
  }));
}

/**
 * Reads the items of one session from a journal's file, in order. Returns no items for an unknown session. Another process
 * can write to the file meanwhile. Rejects with `DATABASE_TOO_NEW` or `DATABASE_DAMAGED`.
 *
 * @example
 * const feed = await readSessionFeed({ file: "/tmp/troupe/journal.db", session });
 */
export async function readSessionFeed({ file, session }: { file: string; session: string }): Promise<FeedItem[]> {
  return withTroupeErrors(() => {
    const database = openToRead(journalSpec(file));
    try {
      return database
        .prepare<[string, string], FeedRow>(
          `SELECT position, session, run, idx, text FROM feed WHERE run IN (SELECT run FROM runs WHERE session = ?)
           UNION ALL
           SELECT position, session, run, idx, text FROM feed WHERE run IS NULL AND session = ?
           ORDER BY position`,
        )
        .all(session, session)
        .map(toFeedItem);
    } finally {
      database.close();
    }
  });
}
