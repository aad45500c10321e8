import type { Worker } from "node:worker_threads";
import { type FeedItem, InboxItem, type Journal, TroupeError } from "@troupe/core";
import { beginsTurn, decodeText, type RunAppend } from "@troupe/core/internal";
import { createFeed } from "./feed.ts";
import type { FeedRow, Write, WriteResult } from "./messages.ts";
import type { RestoredJournalFile } from "./store.ts";
import { connectToThread, type JournalThread, spawnJournalThread } from "./thread-client.ts";

export interface SqliteJournalOptions {
  file: string;
  /** Only where the file is new: it takes the place of one that was lost, and its positions go on from there. */
  restored?: RestoredJournalFile;
}

/**
 * The journal in one SQLite file, written by a thread of its own. An append that has resolved survives a power cut;
 * appends that arrive together share one wait for the disk, and each is checked on its own.
 *
 * Rejects with `DATABASE_TOO_NEW`, `DATABASE_DAMAGED` or `HOME_UNWRITABLE` when the file cannot be used.
 *
 * @example
 * const journal = await openSqliteJournal({ file: "/tmp/troupe/journal.db" });
 * await journal.openRuns(); // []
 * await journal.close();
 */
export function openSqliteJournal({ file, restored }: SqliteJournalOptions): Promise<Journal> {
  return openJournalOn(spawnJournalThread(file, restored), file);
}

/** @internal The same, on a thread that a test can kill. */
export async function openJournalOn(worker: Worker, file: string): Promise<Journal> {
  const thread: JournalThread = await connectToThread(worker, file, {
    onStored: (writes) => feed.publish(writes.flatMap(toFeedItems)),
    onCrash: (error) => feed.end(error),
  });
  const feed = createFeed(thread.tailAtOpen, async (after) => {
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
      if (result.kind !== "stored") throw new TroupeError("INTERNAL", `the inbox of ${item.session} refused an item`);
      return { seq: result.index };
    },
    async readInbox(session, afterSeq = 0) {
      const rows = await thread.read({ kind: "inbox", session, after: afterSeq });
      return rows.map(({ seq, text }) => ({ seq, item: decodeText(InboxItem, text, "inbox item") }));
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
  throw new TroupeError("INVALID_MESSAGE", `entry ${wrong.index} of run ${run} does not count on from ${after}`);
}

function toFeedItems({ write, result }: { write: Write; result: WriteResult }): FeedItem[] {
  if (result.kind !== "stored") return [];
  const { position, index } = result;
  const { session } = write;
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

export function toFeedItem({ position, session, run, idx, text }: FeedRow): FeedItem {
  if (run === null) return { position, kind: "inbox", session, seq: idx, text };
  return { position, kind: "entry", session, run, index: idx, text };
}
