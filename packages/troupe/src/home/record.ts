import { existsSync } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import type { FeedItem } from "@troupe/core";
import { openRecord, readSessionFeed } from "@troupe/recorder";
import { type Home, homeFiles, writePrivateFile } from "./home.ts";

/** What a database may consist of. */
const parts = ["", "-wal", "-shm"];

/** What a home that says nothing was used with. */
const embedded = "embedded";

/** Before the name of the store whose record is on its way to its place. */
const moving = "moving ";

/**
 * Puts the record of the journal that is used now where the record of a home is. That of another one, as after a first
 * `troupe up --nats`, is set aside, and is there again when its journal is. Needs the home's lock.
 *
 * @param store what tells the journals of one home apart: `embedded`, or the namespace that it has on a server
 */
export async function selectRecord(home: Home, store: string): Promise<void> {
  const storeFile = join(home.path, "record.store");
  const writeStore = (text: string): Promise<void> => writePrivateFile(storeFile, `${text}\n`);
  const { record } = homeFiles(home);
  const aside = (name: string): string => join(home.path, `troupe.${name}.db`);
  const fetch = async (name: string): Promise<void> => {
    await moveAll(aside(name), record);
    await writeStore(name);
  };
  let before = (await readFile(storeFile, "utf8").catch(() => "")).trim() || embedded;
  if (before.startsWith(moving)) {
    // Somebody was killed in the middle of it.
    before = before.slice(moving.length);
    await fetch(before);
  }
  if (before === store) return;
  await moveAll(record, aside(before));
  await writeStore(moving + store);
  await fetch(store);
}

/** The log of changes first: a record without its newest ones is behind, one with another's is damaged. */
async function moveAll(from: string, to: string): Promise<void> {
  for (const part of [...parts].reverse()) {
    await rename(from + part, to + part).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    });
  }
}

/**
 * All that a home knows of a session, in order: what its journal says, or its record, where the journal is on a server
 * that others share. Whoever owns the home may go on writing meanwhile.
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
