/** How journals of one process share threads. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startJournalWorker } from "./journal-worker.ts";
import { openJournalOn, openSqliteJournal } from "./sqlite-journal.ts";

let folder: string;
/** Threads that were started, none of them for a journal of an earlier test. */
let started: Worker[];
const onWorker = (worker: Worker): void => void started.push(worker);
const fileOf = (name: string): string => join(folder, name, "journal.db");
const openJournal = (name: string) => openSqliteJournal({ file: fileOf(name) });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-journal-worker-"));
  started = [];
  process.on("worker", onWorker);
  await endIdleWorkers();
});
afterEach(async () => {
  process.off("worker", onWorker);
  await rm(folder, { recursive: true });
});

/** Takes all idle threads and ends them. */
async function endIdleWorkers(): Promise<void> {
  for (const name of ["x", "y", "z"]) await startJournalWorker(fileOf(name)).terminate();
  started = [];
}

it("a journal uses the thread of one that was closed, and has nothing of it", async () => {
  const first = await openJournal("first");
  const id = await first.id();
  await first.close();
  const second = await openJournal("second");
  expect(await second.id()).not.toBe(id);
  expect(await second.openRuns()).toEqual([]);
  await second.close();
  const again = await openJournal("first");
  expect(await again.id()).toBe(id);
  await again.close();
  expect(started).toHaveLength(1);
});

it("journals that are open together have a thread each", async () => {
  const journals = await Promise.all(["one", "two", "three"].map(openJournal));
  expect(started).toHaveLength(3);
  expect(new Set(await Promise.all(journals.map((journal) => journal.id()))).size).toBe(3);
  for (const journal of journals) await journal.close();
});

it("a closed journal stays closed while another one uses its thread", async () => {
  const closed = await openJournal("closed");
  await closed.close();
  const open = await openJournal("open");
  await expect(closed.openRuns()).rejects.toMatchObject({ code: "CLOSED" });
  await closed.close();
  expect(await open.openRuns()).toEqual([]);
  await open.close();
  expect(started).toHaveLength(1);
});

it("the end of a thread ends only the journal that has it", async () => {
  const worker = startJournalWorker(fileOf("first"));
  const first = await openJournalOn(worker, fileOf("first"));
  await first.close();
  const second = await openJournal("second");
  await worker.terminate();
  await expect(second.openRuns()).rejects.toMatchObject({ code: "INTERNAL" });
  await expect(first.openRuns()).rejects.toMatchObject({ code: "CLOSED" });
  await second.close();
  await (await openJournal("third")).close();
  expect(started).toHaveLength(2);
});

it("a thread that refused a file ends", async () => {
  const file = join(folder, "text.db");
  await writeFile(file, "to be or not to be".repeat(500));
  const over = new Promise((resolve) => process.once("worker", (worker: Worker) => worker.once("exit", resolve)));
  await expect(openSqliteJournal({ file })).rejects.toMatchObject({ code: "DATABASE_DAMAGED" });
  await over;
  await (await openJournal("next")).close();
  expect(started).toHaveLength(2);
});
