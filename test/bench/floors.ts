/** Cost of the parts without troupe: one XState actor, the heap of a waiting actor, SQLite commits. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openSqlite } from "@troupe/recorder/internal";
import { bareLives, waitingActors } from "./bare-actors.ts";

const collect = globalThis.gc;
if (!collect) throw new Error("run with --expose-gc");

async function xstateLife(lives: number): Promise<number> {
  const live = bareLives();
  for (let i = 0; i < 500; i += 1) await live();
  const before = process.cpuUsage();
  for (let i = 0; i < lives; i += 1) await live();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / lives;
}

function xstateHeapKb(actors: number): number {
  collect?.();
  const before = process.memoryUsage().heapUsed;
  const waiting = waitingActors(actors);
  collect?.();
  const kb = (process.memoryUsage().heapUsed - before) / 1024 / actors;
  for (const actor of waiting) actor.stop();
  return kb;
}

function sqliteCommits(folder: string): { singleMs: number; grouped50CpuMsPerRow: number } {
  const db = openSqlite(path.join(folder, "floor.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE entries (id INTEGER PRIMARY KEY, run TEXT, idx INTEGER, text TEXT, UNIQUE(run, idx))");
  const insert = db.prepare<[string, number, string]>("INSERT INTO entries (run, idx, text) VALUES (?, ?, ?)");
  const text = "x".repeat(1_000);
  let row = 0;
  const add = (): void => {
    row += 1;
    insert.run(`run-${row % 100}`, row, text);
  };
  const startedMs = performance.now();
  for (let i = 0; i < 300; i += 1) add();
  const singleMs = (performance.now() - startedMs) / 300;
  const group = db.transaction(() => {
    for (let i = 0; i < 50; i += 1) add();
  });
  const before = process.cpuUsage();
  for (let i = 0; i < 100; i += 1) group();
  const { user, system } = process.cpuUsage(before);
  db.close();
  return { singleMs, grouped50CpuMsPerRow: (user + system) / 1_000 / 5_000 };
}

const folder = await mkdtemp(path.join(tmpdir(), "troupe-floor-"));
const sqlite = sqliteCommits(folder);
await rm(folder, { recursive: true });
console.log(
  JSON.stringify({ xstateCpuMsPerLife: await xstateLife(3_000), xstateHeapKbPerActor: xstateHeapKb(2_000), ...sqlite }),
);
