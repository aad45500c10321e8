import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FeedItem } from "@troupe/core";
import { afterEach } from "vitest";
import { openRecord, type RecordStore } from "../record-store.ts";

const folders: string[] = [];
const records: RecordStore[] = [];

/** A record in a new folder, with the items of a feed. It is closed after the test. */
export async function recordOf(feed: readonly FeedItem[], batch = feed.length || 1): Promise<RecordStore> {
  const record = await openRecord({ file: join(await newFolder(), "troupe.db") });
  records.push(record);
  for (let first = 0; first < feed.length; first += batch) record.write(feed.slice(first, first + batch));
  return record;
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "troupe-queries-"));
  folders.push(folder);
  return folder;
}

/** Feeds of several sessions as one feed. */
export function joined(...feeds: (readonly FeedItem[])[]): FeedItem[] {
  return feeds.flat().map((item, i) => ({ ...item, position: i + 1 }));
}

afterEach(async () => {
  for (const record of records.splice(0)) record.close();
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});
