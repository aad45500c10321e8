import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Journal } from "@troupe/core";
import { type SealedEntry, sealEntry } from "@troupe/core/internal";
import { createCountingIds } from "@troupe/core/memory";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqlite } from "../database/sqlite.ts";
import { openJournalStore } from "./journal-store.ts";
import { startJournalWorker } from "./journal-worker.ts";
import { openJournalOn, openSqliteJournal } from "./sqlite-journal.ts";

/** Behaviour that only the SQLite journal has. test/conformance tests the contract of every journal. */

const ids = createCountingIds();
const session = ids.next();
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-journal-"));
  file = join(folder, "home", "journal.db");
});
afterEach(() => rm(folder, { recursive: true }));

function entry(run: string, index: number, words = "x"): SealedEntry {
  return sealEntry(
    { v: 1, session, run, index, epoch: 1, host: "host", at: index, prev: null },
    { kind: "timer.fired", timer: words },
  );
}

function appendTo(journal: Journal, run: string, index: number, words?: string) {
  const entries = [entry(run, index, words)];
  return journal.append({ session, run, after: index - 1, entries, terminal: false });
}

describe("durability", () => {
  it.each(["at the first open", "at every later open"])("syncs each commit to disk %s", (when) => {
    if (when !== "at the first open") openJournalStore(file).close();
    const store = openJournalStore(file);
    expect(store.database.pragma("journal_mode")).toBe("wal");
    expect(store.database.pragma("synchronous")).toBe(2);
    store.close();
  });

  it("commits all writes of a group at once, or none of them when the disk is full", () => {
    const store = openJournalStore(file);
    const run = ids.next();
    const write = (index: number, text: string) => ({
      kind: "entries" as const,
      session,
      run,
      after: index - 1,
      texts: [text],
      terminal: false,
    });
    store.write([write(0, "small")]);
    const pages = Number(store.database.pragma("page_count"));
    store.database.pragma(`max_page_count = ${pages + 2}`);
    expect(() => store.write([write(1, "small"), write(2, "large".repeat(10_000))])).toThrow("no space left");
    expect(store.read({ kind: "run", run, from: 0 })).toEqual(["small"]);
    expect(store.tail()).toBe(1);
    store.database.pragma(`max_page_count = ${pages + 100}`);
    expect(store.write([write(1, "again")])).toEqual([{ kind: "stored", position: 2, index: 1 }]);
    store.close();
  });

  it("writes nothing more after a failed sync, though a second try would seem to work", () => {
    const store = openJournalStore(file);
    let isBroken = true;
    store.database.function("sync", () => {
      // The error of Node for SQLITE_IOERR_FSYNC.
      if (isBroken) throw Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 1034 });
      return 0;
    });
    store.database.exec("CREATE TEMP TRIGGER broken BEFORE INSERT ON feed BEGIN SELECT sync(); END");
    const write = { kind: "inbox" as const, session, text: "item", opens: null };
    expect(() => store.write([write])).toThrow("SQLITE_IOERR 1034");
    isBroken = false;
    expect(() => store.write([write])).toThrow("SQLITE_IOERR 1034");
    expect(() => store.read({ kind: "openRuns", session: null })).toThrow("SQLITE_IOERR 1034");
    store.close();
    const reopened = openJournalStore(file);
    expect(reopened.tail()).toBe(0);
    reopened.close();
  });

  it("rejects every append of a group that could not be committed, and shows none of it to watchers", async () => {
    const journal = await openSqliteJournal({ file });
    const [first, second] = [ids.next(), ids.next()];
    failWritesThatSay("boom");
    const failed = await Promise.allSettled([appendTo(journal, first, 0), appendTo(journal, second, 0, "boom")]);
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await journal.readRun(session, first)).toEqual([]);
    expect(await journal.tail()).toBe(0);
    expect(await appendTo(journal, first, 0, "fine")).toEqual({ ok: true });
    const controller = new AbortController();
    for await (const batch of journal.watch({ after: 0, signal: controller.signal })) {
      expect(batch.map(({ text }) => text)).toEqual([entry(first, 0, "fine").text]);
      controller.abort();
    }
    await journal.close();
  });

  it("ends with a clear error when its thread dies, for pending and for later calls", async () => {
    const worker = startJournalWorker(file);
    const journal = await openJournalOn(worker, file);
    const watch = journal.watch({ after: 0, signal: new AbortController().signal })[Symbol.asyncIterator]();
    // The thread stops at once, and its end is not known yet: no call that is made now gets an answer.
    const ended = worker.terminate();
    const asked = [watch.next(), appendTo(journal, ids.next(), 0), journal.openRuns()];
    const answers = Promise.allSettled(asked);
    await ended;
    const lost = { code: "INTERNAL", message: expect.stringContaining(file), fix: expect.stringContaining("resume") };
    for (const answer of await answers) expect(answer).toMatchObject({ status: "rejected", reason: lost });
    await expect(appendTo(journal, ids.next(), 0)).rejects.toMatchObject(lost);
    await expect(journal.openRuns()).rejects.toMatchObject(lost);
    await journal.close();
  });
});

describe("a file that cannot be used", () => {
  it("of a newer version is refused by its number, and left as it is", async () => {
    openJournalStore(file).close();
    const newer = openSqlite(file);
    newer.pragma("user_version = 7");
    newer.close();
    const before = await readFile(file);
    await expect(openSqliteJournal({ file })).rejects.toMatchObject({
      code: "DATABASE_TOO_NEW",
      message: expect.stringMatching(/version 7.*up to 3/),
      fix: expect.stringContaining("install"),
    });
    expect(await readFile(file)).toEqual(before);
  });

  it.each([
    { what: "that is not a database", make: () => writeFile(file, "to be or not to be".repeat(500)) },
    { what: "whose header is wiped", make: () => damage((bytes) => bytes.fill(0, 0, 100)) },
    { what: "whose schema is overwritten", make: () => damage((bytes) => bytes.fill(0xff, 100, 2_000)) },
    {
      what: "that belongs to something else",
      make: async () => {
        const other = openSqlite(file);
        other.exec("CREATE TABLE recipes (name TEXT)");
        other.close();
      },
    },
  ])("$what is refused as damaged, and left as it is", async ({ make }) => {
    openJournalStore(file).close();
    await rm(file);
    await make();
    const before = await readFile(file);
    await expect(openSqliteJournal({ file })).rejects.toMatchObject({
      code: "DATABASE_DAMAGED",
      message: expect.stringContaining(file),
      fix: expect.stringContaining("start anew: mv "),
    });
    expect(await readFile(file)).toEqual(before);
  });

  it("in a folder that cannot be is refused as unwritable", async () => {
    const inTheWay = join(folder, "file");
    await writeFile(inTheWay, "");
    const impossible = join(inTheWay, "home", "journal.db");
    await expect(openSqliteJournal({ file: impossible })).rejects.toMatchObject({
      code: "HOME_UNWRITABLE",
      message: expect.stringContaining(impossible),
    });
    expect(existsSync(impossible)).toBe(false);
  });
});

async function damage(change: (bytes: Buffer) => void): Promise<void> {
  openJournalStore(file).close();
  const bytes = await readFile(file);
  change(bytes);
  await writeFile(file, bytes);
}

/** Makes the database fail in the middle of a transaction, like a broken disk. */
function failWritesThatSay(words: string): void {
  const other = openSqlite(file);
  other.exec(`CREATE TRIGGER fail BEFORE INSERT ON feed WHEN NEW.text LIKE '%${words}%'
              BEGIN SELECT RAISE(ABORT, 'the disk broke'); END`);
  other.close();
}
