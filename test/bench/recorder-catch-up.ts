/**
 * How fast a recorder that was away comes up to its journal, beside the least that it could cost: the same texts in
 * batches of the same size into a table with the same index.
 *
 * node test/bench/recorder-catch-up.ts [items]
 */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FeedItem, Journal } from "@troupe/core";
import { openRecord, startRecorder } from "@troupe/recorder";
import Database from "better-sqlite3";
import { watchLoopLag } from "./loop-lag.ts";
import { sessionCopies } from "./session-copies.ts";

const count = Number(process.argv[2] ?? 100_000);
const batchRows = 200;

await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-bench-catch-up-"));
const items = await sessionCopies(count);
const bytes = items.reduce((sum, { text }) => sum + text.length, 0);

const bareMs = insertBare(join(folder.path, "bare.db"));
const memory = await catchUp(memoryJournal());
console.log(
  JSON.stringify({
    items: items.length,
    bytesPerItem: Math.round(bytes / items.length),
    barePerSecond: Math.round((items.length / bareMs) * 1_000),
    memory,
  }),
);

function insertBare(file: string): number {
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  database.exec(`
    CREATE TABLE entries (
      position INTEGER NOT NULL, session_id TEXT NOT NULL, run_id TEXT NOT NULL, idx INTEGER NOT NULL,
      hash TEXT NOT NULL, text TEXT NOT NULL
    );
    CREATE UNIQUE INDEX idx_entries_key ON entries (run_id, idx, hash);
  `);
  const insert = database.prepare("INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?, ?)");
  const insertAll = database.transaction((batch: readonly FeedItem[]) => {
    for (const item of batch) {
      const [run, index] = item.kind === "entry" ? [item.run, item.index] : [item.session, item.seq];
      insert.run(item.position, item.session, run, index, item.text.slice(-66, -2), item.text);
    }
  });
  const startedMs = performance.now();
  for (let first = 0; first < items.length; first += batchRows)
    insertAll.immediate(items.slice(first, first + batchRows));
  const bareMs = performance.now() - startedMs;
  database.close();
  return bareMs;
}

async function catchUp(journal: Pick<Journal, "id" | "kept" | "tail" | "watch">) {
  const record = await openRecord({ file: join(folder.path, "troupe.db") });
  const lag = watchLoopLag();
  const startedMs = performance.now();
  const recorder = startRecorder({ journal, record });
  await recorder.caughtUp();
  const wallMs = performance.now() - startedMs;
  const { p99Ms, maxMs } = lag.stop();
  await recorder.stop();
  record.close();
  const perSecond = Math.round((items.length / wallMs) * 1_000);
  return { perSecond, timesSlower: wallMs / bareMs, lagP99Ms: p99Ms, lagMaxMs: maxMs };
}

function memoryJournal(): Pick<Journal, "id" | "kept" | "tail" | "watch"> {
  return {
    id: async () => "bench",
    kept: async () => {},
    tail: async () => items.length,
    async *watch({ after, signal }) {
      for (let first = after; first < items.length && !signal.aborted; first += 500) {
        yield items.slice(first, first + 500);
      }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
}
