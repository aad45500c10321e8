/**
 * Measures how fast a recorder catches up with its journal, in memory and over a real NATS server. The floor inserts the
 * same texts in batches of the same size into a table with the same index.
 *
 * node test/bench/recorder-catch-up.ts [items]
 */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FeedItem, Journal } from "@troupe/core";
import { silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { openNatsLink, openNatsPorts, restoreEntries } from "@troupe/nats";
import { openRecord, startRecorder } from "@troupe/recorder";
import { openSqlite } from "@troupe/recorder/internal";
import { findNatsServer, startNatsServer } from "../harness/nats-server.ts";
import { watchLoopLag } from "./loop-lag.ts";
import { sessionCopies } from "./session-copies.ts";

type Followed = Pick<Journal, "id" | "checkpoint" | "tail" | "watch">;

const count = Number(process.argv[2] ?? 100_000);
const batchRows = 200;

await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-bench-catch-up-"));
const items = await sessionCopies(count);
const bytes = items.reduce((sum, { text }) => sum + text.length, 0);
const bare = await timed(() => insertBare(join(folder.path, "bare.db")));
const memory = await catchUp("memory.db", memoryJournal());
const nats = findNatsServer() === null ? null : await overNats();
console.log(
  JSON.stringify({
    items: items.length,
    bytesPerItem: Math.round(bytes / items.length),
    barePerSecond: Math.round((items.length / bare.wallMs) * 1_000),
    memory,
    nats,
  }),
);

function insertBare(file: string): void {
  const database = openSqlite(file);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  database.exec(`
    CREATE TABLE entries (
      position INTEGER NOT NULL, session_id TEXT NOT NULL, run_id TEXT NOT NULL, idx INTEGER NOT NULL,
      hash TEXT NOT NULL, text TEXT NOT NULL
    );
    CREATE UNIQUE INDEX idx_entries_key ON entries (run_id, idx, hash);
  `);
  const insert = database.prepare<[number, string, string, number, string, string]>(
    "INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?, ?)",
  );
  const insertAll = database.transaction((batch: readonly FeedItem[]) => {
    for (const item of batch) {
      const [run, index] = item.kind === "entry" ? [item.run, item.index] : [item.session, item.seq];
      insert.run(item.position, item.session, run, index, item.text.slice(-66, -2), item.text);
    }
  });
  for (const batch of batchesOf(batchRows)) insertAll(batch);
  database.close();
}

/** A real server, whose journal is filled as a restore fills it, and then read by a process that knows nothing of it. */
async function overNats() {
  const server = await startNatsServer();
  const open = async () => {
    const link = await openNatsLink({ servers: server.url });
    const ports = await openNatsPorts({ link, clock: systemClock(), logger: silentLogger });
    return { ...ports, end: () => ports.close().then(() => link.close()) };
  };
  const writer = await open();
  const filled = await timed(() => restoreEntries({ journal: writer.journal, items: toAsync(batchesOf(500)) }));
  await writer.end();
  const reader = await open();
  const caughtUp = await catchUp("nats.db", reader.journal);
  await reader.end();
  await server.stop();
  return { ...caughtUp, restoredPerSecond: Math.round((items.length / filled.wallMs) * 1_000) };
}

async function catchUp(name: string, journal: Followed) {
  const record = await openRecord({ file: join(folder.path, name) });
  const lag = watchLoopLag();
  let recorder = null;
  const { wallMs, cpuMs } = await timed(() => {
    recorder = startRecorder({ journal, record });
    return recorder.caughtUp();
  });
  const { p99Ms, maxMs } = lag.stop();
  await (recorder as ReturnType<typeof startRecorder> | null)?.stop();
  record.close();
  return {
    perSecond: Math.round((items.length / wallMs) * 1_000),
    timesSlower: wallMs / bare.wallMs,
    timesTheCpu: cpuMs / bare.cpuMs,
    lagP99Ms: p99Ms,
    lagMaxMs: maxMs,
  };
}

function memoryJournal(): Followed {
  return {
    id: async () => "bench",
    checkpoint: async () => {},
    tail: async () => items.length,
    async *watch({ signal }) {
      for (const batch of batchesOf(500)) if (!signal.aborted) yield batch;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
}

function* batchesOf(size: number): Generator<FeedItem[]> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size);
}

async function* toAsync(batches: Iterable<FeedItem[]>): AsyncGenerator<FeedItem[]> {
  yield* batches;
}

async function timed(act: () => unknown): Promise<{ wallMs: number; cpuMs: number }> {
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  await act();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - startedMs, cpuMs: (user + system) / 1_000 };
}
