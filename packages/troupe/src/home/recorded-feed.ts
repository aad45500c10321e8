import { existsSync } from "node:fs";
import type { FeedItem } from "@troupe/core";
import { openRecord, readSessionFeed } from "@troupe/recorder";
import { type Home, homeFiles } from "./home.ts";

/**
 * All that a home knows of a session, in order: what its journal says, or its record, where the journal is on a server
 * that others share. Whoever owns the home may go on writing meanwhile.
 */
export async function recordedFeed(home: Home, session: string): Promise<FeedItem[]> {
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
