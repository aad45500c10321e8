import type { EntryBody, FeedItem, Journal } from "@troupe/core";
import { EntryHead, openEntry, sealEntry } from "@troupe/core/internal";

/** Feeds of journals, for tests that copy one journal to another. */

type Readable = Pick<Journal, "watch" | "tail">;

/** All items of a journal. */
export async function feedOf(journal: Readable): Promise<FeedItem[]> {
  const items: FeedItem[] = [];
  const tail = await journal.tail();
  const enough = new AbortController();
  if (tail === 0) return items;
  for await (const batch of journal.watch({ after: 0, signal: enough.signal })) {
    items.push(...batch);
    if ((items.at(-1)?.position ?? 0) >= tail) enough.abort();
  }
  return items;
}

/** The texts of every run and every inbox of a feed. */
export function contentOf(feed: readonly FeedItem[]): Record<string, string[]> {
  const content = new Map<string, string[]>();
  const sorted = [...feed].sort((a, b) => placeOf(a) - placeOf(b));
  for (const item of sorted) {
    const key = item.kind === "entry" ? item.run : `inbox ${item.session}`;
    content.set(key, [...(content.get(key) ?? []), item.text]);
  }
  return Object.fromEntries([...content].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function placeOf(item: FeedItem): number {
  return item.kind === "entry" ? item.index : item.seq;
}

/** Writes a feed into a journal one item after the other, as hosts and people would. */
export async function writeInto(journal: Pick<Journal, "append" | "appendInbox">, feed: readonly FeedItem[]) {
  for (const item of feed) {
    if (item.kind === "inbox") await journal.appendInbox(JSON.parse(item.text));
    else {
      const { session, run, index, text } = item;
      const { hash, kind } = openEntry(text);
      const entries = [{ index, hash, text }];
      const result = await journal.append({
        session,
        run,
        after: index - 1,
        entries,
        terminal: kind === "run.settled",
      });
      if (!result.ok) throw new Error(`entry ${index} of ${run} was refused`);
    }
  }
}

/** The next entry of a run, from another host and with other content. */
export function entryAfter(last: Extract<FeedItem, { kind: "entry" }>, body: EntryBody, host = "another") {
  const before = openEntry(last.text);
  const head = EntryHead.parse({ ...before, index: before.index + 1, host, prev: before.hash });
  return sealEntry(head, body);
}
