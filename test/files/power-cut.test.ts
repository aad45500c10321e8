/**
 * A power cut at any moment of 200 commits: a preloaded library records every write and sync of the journal's files. The test
 * builds the files as a disk could have them then, and opens them.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { entryIsIntact, openEntry } from "@troupe/core/internal";
import { openSqlite } from "@troupe/recorder/internal";
import { it } from "vitest";
import { isLong } from "../harness/long.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { buildShim, describeWithShim } from "./shim.ts";

const commits = 200;
const names = ["journal.db", "journal.db-wal"] as const;

interface Operation {
  kind: "w" | "s" | "t";
  file: string;
  offset: number;
  data: Buffer;
}

/** The content of a file as its writer sees it, and as a disk has it for certain. */
interface Disk {
  written: Content;
  synced: Content;
  waiting: Operation[];
}

/** Bytes that grow in place: copying them for each write would take minutes. */
class Content {
  #bytes: Buffer;
  #size = 0;

  constructor(bytesMax = 16 * 1024 * 1024) {
    this.#bytes = Buffer.alloc(bytesMax);
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  apply({ kind, offset, data }: Operation): void {
    if (kind === "t") this.#bytes.fill(0, Math.min(offset, this.#size), this.#size);
    else data.copy(this.#bytes, offset);
    this.#size = kind === "t" ? offset : Math.max(this.#size, offset + data.length);
  }

  with(operations: readonly Operation[]): Buffer {
    const ends = operations.map(({ offset, data }) => offset + data.length);
    const copy = new Content(Math.max(this.#size, ...ends));
    this.#bytes.copy(copy.#bytes, 0, 0, this.#size);
    copy.#size = this.#size;
    for (const operation of operations) copy.apply(operation);
    return copy.bytes;
  }
}

async function recordCommits(folder: string): Promise<Operation[]> {
  const store = path.join(folder, "store");
  await mkdir(store);
  const env = {
    ...process.env,
    LD_PRELOAD: buildShim(),
    TROUPE_SHIM_FOLDER: store,
    TROUPE_SHIM_LOG: path.join(folder, "log"),
  };
  const writer = path.join(import.meta.dirname, "power-cut-writer.ts");
  const ended = await promisify(execFile)(process.execPath, [writer, store, String(commits)], { env }).catch(
    (error: { signal?: string; stderr: string }) => error,
  );
  if (!("signal" in ended) || ended.signal !== "SIGKILL") throw new Error(`the writer did not finish: ${ended.stderr}`);
  return parseLog(await readFile(path.join(folder, "log")));
}

function parseLog(log: Buffer): Operation[] {
  const operations: Operation[] = [];
  for (let at = 0; at < log.length; ) {
    const end = log.indexOf(0x0a, at);
    const [kind, file = "", offset, length] = log.subarray(at, end).toString().split(" ");
    const bytes = kind === "w" ? Number(length) : 0;
    operations.push({
      kind: kind as Operation["kind"],
      file,
      offset: Number(offset),
      data: log.subarray(end + 1, end + 1 + bytes),
    });
    at = end + 1 + bytes;
  }
  return operations;
}

/** The last write reached the disk by half: a whole number of sectors of it. */
function torn(operation: Operation): Operation {
  const half = Math.floor(operation.data.length / 2 / 512) * 512;
  return { ...operation, data: operation.data.subarray(0, half) };
}

describeWithShim("a power cut", () => {
  it("at any moment of 200 commits loses no acknowledged entry, and no torn state is accepted", {
    timeout: 3_000_000,
  }, async (test) => {
    const { expect } = test;
    const folder = await tempFolder("power-cut", test);
    const operations = await recordCommits(folder);
    const disks = new Map<string, Disk>(
      names.map((name) => [name, { written: new Content(), synced: new Content(), waiting: [] }]),
    );
    const whole = await expectedTexts(path.join(folder, "store"));
    let acknowledged = 0;
    let checked = 0;
    let checkpoints = 0;
    const check = async (contentOf: (disk: Disk) => Buffer, what: string): Promise<void> => {
      const texts = await reopen(path.join(folder, "reopened"), disks, contentOf);
      checked += 1;
      if (texts.length < acknowledged)
        throw new Error(`${what}: ${texts.length} of ${acknowledged} acknowledged items are left`);
      if (texts.some((text, i) => text !== whole[i])) throw new Error(`${what}: a torn state was accepted`);
    };
    const checkAll = async (i: number, operation: Operation, disk: Disk): Promise<void> => {
      await check(({ synced }) => synced.bytes, `operation ${i}, only synced writes`);
      await check(({ written }) => written.bytes, `operation ${i}, all writes`);
      if (operation.kind === "w") await check((each) => tornBytes(each, disk, operation), `operation ${i}, torn`);
    };
    for (const [i, operation] of operations.entries()) {
      if (operation.file === "acks") acknowledged += 1;
      const disk = disks.get(operation.file);
      if (!disk) continue;
      perform(disk, operation);
      const isCheckpoint = operation.file === "journal.db" && acknowledged > 0;
      if (isCheckpoint && operation.kind === "s") checkpoints += 1;
      if (isChosen(i, operation, isCheckpoint)) await checkAll(i, operation, disk);
    }
    expect(acknowledged).toBe(commits);
    expect(checkpoints).toBeGreaterThan(0);
    expect(checked).toBeGreaterThan(40);
  });
});

function perform(disk: Disk, operation: Operation): void {
  if (operation.kind === "s") {
    for (const each of disk.waiting) disk.synced.apply(each);
    disk.waiting = [];
  } else {
    disk.waiting.push(operation);
    disk.written.apply(operation);
  }
}

/** A checkpoint writes each page by itself: the short form tries some of them, and each sync. */
function isChosen(i: number, { kind }: Operation, isCheckpoint: boolean): boolean {
  return isLong || i % (isCheckpoint ? 331 : 71) === 0 || (isCheckpoint && kind === "s");
}

/** Of the file that is written, all writes and half of the last one. Of the other file, only the synced writes. */
function tornBytes(each: Disk, disk: Disk, operation: Operation): Buffer {
  if (each !== disk) return each.synced.bytes;
  return each.synced.with([...each.waiting.slice(0, -1), torn(operation)]);
}

/** All texts of the finished journal, in order. */
async function expectedTexts(store: string): Promise<string[]> {
  return readTexts(path.join(store, "journal.db"));
}

async function reopen(
  folder: string,
  disks: ReadonlyMap<string, Disk>,
  contentOf: (disk: Disk) => Buffer,
): Promise<string[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const [name, disk] of disks) {
    const content = contentOf(disk);
    if (content.length > 0) await writeFile(path.join(folder, name), content);
  }
  return readTexts(path.join(folder, "journal.db"));
}

/** Opens the database as the next process does, and checks every hash. */
function readTexts(file: string): string[] {
  const database = openSqlite(file);
  try {
    const hasFeed =
      database.prepareValue<[], number>("SELECT count(*) FROM sqlite_schema WHERE name = 'feed'").get() === 1;
    if (!hasFeed) return [];
    const rows = database
      .prepare<[], { run: string | null; text: string }>("SELECT run, text FROM feed ORDER BY position")
      .all();
    const heads = new Map<string, string>();
    for (const { run, text } of rows) {
      if (run === null) continue;
      const { prev, hash } = openEntry(text);
      if (!entryIsIntact(text) || prev !== (heads.get(run) ?? null)) throw new Error(`${file} has a torn entry`);
      heads.set(run, hash);
    }
    return rows.map(({ text }) => text);
  } finally {
    database.close();
  }
}
