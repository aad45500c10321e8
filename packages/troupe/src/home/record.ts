import { existsSync } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { type FeedItem, TroupeError } from "@troupe/core";
import { openRecord, readJournalItems, readRecordOrigin, readSessionFeed } from "@troupe/recorder";
import { type Home, homeFiles, writePrivateFile } from "./home.ts";

/** File suffixes of a SQLite database. */
const parts = ["", "-wal", "-shm"];

/** The journal of a home without the file `record.store`. */
export const embeddedStore = "embedded";

/** Prefix of the store name while the files are being renamed. */
const moving = "moving ";

/**
 * Makes the record of the current journal the record of the home. The record of another journal, as after a first
 * `troupe up --nats`, is renamed, and returns when its journal is used again. Needs the home's lock.
 *
 * @param store name of the journal: `embedded`, or `nats-` and its namespace
 */
export async function selectRecord(home: Home, store: string): Promise<void> {
  const storeFile = storeFileOf(home);
  const writeStore = (text: string): Promise<void> => writePrivateFile(storeFile, `${text}\n`);
  const { record } = homeFiles(home);
  const aside = (name: string): string => join(home.path, `troupe.${name}.db`);
  const fetch = async (name: string): Promise<void> => {
    await moveAll(aside(name), record);
    await writeStore(name);
  };
  let before = await recordStoreOf(home);
  if (before.startsWith(moving)) {
    // An earlier process was killed between the two renames.
    before = before.slice(moving.length);
    await fetch(before);
  }
  if (before === store) return;
  await moveAll(record, aside(before));
  await writeStore(moving + store);
  await fetch(store);
}

/** The name of the journal that the record of a home follows: `embedded`, or `nats-` and its namespace. */
export async function recordStoreOf(home: Home): Promise<string> {
  const text = await readFile(storeFileOf(home), "utf8").catch(() => "");
  return text.trim() || embeddedStore;
}

function storeFileOf(home: Home): string {
  return join(home.path, "record.store");
}

/** Moves the write-ahead log first: a database without its log is only older, but with another database's log it is damaged. */
async function moveAll(from: string, to: string): Promise<void> {
  for (const part of [...parts].reverse()) {
    await rename(from + part, to + part).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    });
  }
}

/** Throws if the record has nothing of a journal that has entries: all sessions would seem to be gone. */
export async function refuseEmptyRecord(home: Home): Promise<void> {
  const { journal, record } = homeFiles(home);
  if (!existsSync(journal) || (await recordStoreOf(home)) !== embeddedStore) return;
  if (existsSync(record) && readRecordOrigin({ file: record })?.position !== 0) return;
  for await (const _ of readJournalItems({ file: journal })) {
    throw new TroupeError("DATABASE_DAMAGED", `${record} has no entry of ${journal}`, { fix: "troupe record rebuild" });
  }
}

/**
 * All entries of a session in order, from the home's journal, or from its record if the journal is on a NATS server. The
 * owner of the home can write at the same time.
 */
export async function readHomeFeed(home: Home, session: string): Promise<FeedItem[]> {
  const { journal, record } = homeFiles(home);
  const own = existsSync(journal) ? await readSessionFeed({ file: journal, session }) : [];
  if (own.length > 0 || !existsSync(record)) return own;
  const { copy, close } = await openRecord({ file: record });
  const items: FeedItem[] = [];
  try {
    for await (const batch of copy.items()) items.push(...batch.filter((item) => item.session === session));
  } finally {
    await close();
  }
  return items;
}
