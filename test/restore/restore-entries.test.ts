import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FeedItem, Journal } from "@troupe/core";
import { createMemoryJournal } from "@troupe/core/memory";
import { restoreEntries } from "@troupe/nats";
import { openRecord, openSqliteJournal, startRecorder } from "@troupe/recorder";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sessionCopies } from "../bench/session-copies.ts";
import { contentOf, entryAfter, feedOf, writeInto } from "./feeds.ts";

/** A lost journal is restored from a recorder's copy: completely, once, and unchanged. */

let sessions: FeedItem[];
let folder: string;
let opened: (() => unknown)[];

beforeAll(async () => {
  // The last session is incomplete: some of its runs have not settled.
  sessions = (await sessionCopies(95)).slice(0, -3);
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-restore-"));
  opened = [];
});
afterEach(async () => {
  for (const close of opened.reverse()) await close();
  await rm(folder, { recursive: true });
});

async function* inBatches(feed: readonly FeedItem[], size = 40): AsyncGenerator<readonly FeedItem[]> {
  for (let first = 0; first < feed.length; first += size) yield feed.slice(first, first + size);
}

function opening<J extends Journal>(journal: J): J {
  opened.push(() => journal.close());
  return journal;
}

const journals = [
  { kind: "memory", open: async () => opening(createMemoryJournal()) },
  { kind: "SQLite", open: async () => opening(await openSqliteJournal({ file: join(folder, "journal.db") })) },
];

describe.each(journals)("into a new $kind journal", ({ open }) => {
  it("every item is restored, byte for byte, and open runs are open", async () => {
    const before = opening(createMemoryJournal());
    await writeInto(before, sessions);
    const journal = await open();
    const counts: number[] = [];
    const report = await restoreEntries({
      journal,
      items: inBatches(sessions),
      onProgress: (items) => counts.push(items),
    });
    expect(report).toEqual({ items: sessions.length, parted: [] });
    expect(counts.at(-1)).toBe(sessions.length);
    expect(contentOf(await feedOf(journal))).toEqual(contentOf(sessions));
    const runsOf = async (of: Journal) =>
      (await of.openRuns()).map(({ run, lastIndex }) => `${run} ${lastIndex}`).sort();
    expect(await runsOf(journal)).toEqual(await runsOf(before));
    expect(await runsOf(journal)).not.toEqual([]);
  });

  it.each([
    { what: "interrupted and repeated", parts: [57, Number.POSITIVE_INFINITY] },
    { what: "done twice", parts: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] },
    { what: "repeated from a smaller copy", parts: [Number.POSITIVE_INFINITY, 31] },
  ])("the result is the same if it is $what", async ({ parts }) => {
    const journal = await open();
    for (const count of parts) {
      const { parted } = await restoreEntries({ journal, items: inBatches(sessions.slice(0, count), 13) });
      expect(parted).toEqual([]);
    }
    expect(contentOf(await feedOf(journal))).toEqual(contentOf(sessions));
  });

  it("a run and an inbox with other content are left unchanged, and named", async () => {
    const journal = await open();
    const entries = sessions.filter((item) => item.kind === "entry");
    const [first] = entries;
    const [asked] = sessions;
    if (!first || asked?.kind !== "inbox") throw new Error("a session begins with a request");
    const run = entries.filter((entry) => entry.run === first.run);
    const other = entryAfter(first, { kind: "timer.fired", timer: "tick" });
    const cancelItem = { v: 1, kind: "session.cancelled", at: 1, session: asked.session, reason: "enough" } as const;
    await journal.append({ ...first, after: -1, entries: [{ ...first, hash: "" }], terminal: false });
    await journal.append({ ...first, after: 0, entries: [other], terminal: false });
    await journal.appendInbox(cancelItem);
    const { items, parted } = await restoreEntries({ journal, items: inBatches(sessions) });
    const { session } = first;
    expect(parted).toHaveLength(2);
    expect(parted).toEqual(
      expect.arrayContaining([
        { session, run: first.run, index: 1 },
        { session, run: null, index: 1 },
      ]),
    );
    expect(items).toBeLessThanOrEqual(sessions.length - run.length);
    expect(await journal.readRun(session, first.run)).toEqual([first.text, other.text]);
  });
});

it("splits a run that is too large for one message", async () => {
  const [asked, first] = sessions;
  if (asked?.kind !== "inbox" || first?.kind !== "entry") throw new Error("a session begins with a request");
  const feed: FeedItem[] = [asked, first];
  for (let index = 1; index <= 5; index += 1) {
    const last = feed.at(-1);
    if (last?.kind !== "entry") throw new Error("no entry");
    const { text } = entryAfter(last, { kind: "timer.fired", timer: "x".repeat(100_000) });
    feed.push({ ...last, index, position: last.position + 1, text });
  }
  const journal = opening(createMemoryJournal());
  const sizes: number[] = [];
  const measured: Journal = {
    ...journal,
    append(append) {
      sizes.push(append.entries.reduce((sum, { text }) => sum + text.length, 0));
      return journal.append(append);
    },
  };
  await restoreEntries({ journal: measured, items: inBatches(feed) });
  expect(await journal.readRun(first.session, first.run)).toHaveLength(6);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1_024);
  expect(sizes).toHaveLength(3);
});

it("rejects a concurrent writer", async () => {
  const journal = opening(createMemoryJournal());
  const crowded: Journal = { ...journal, appendInbox: async () => ({ seq: 7 }) };
  await expect(restoreEntries({ journal: crowded, items: inBatches(sessions) })).rejects.toMatchObject({
    code: "CONFLICT",
  });
});

it("restores a journal file from its record, which resumes at its position", async () => {
  const [lost, found] = [join(folder, "lost.db"), join(folder, "found.db")];
  const before = await openSqliteJournal({ file: lost });
  await writeInto(before, sessions.slice(0, 60));
  const record = await openRecord({ file: join(folder, "troupe.db") });
  opened.push(() => record.close());
  const recorder = startRecorder({ journal: before, record });
  await recorder.caughtUp();
  await recorder.stop();
  await before.close();
  const { journal: id } = record.origin();
  const rows = await record.reader.sessions({ limit: 100 });

  const restored = { journalId: id ?? "", after: record.reader.position() };
  const journal = opening(await openSqliteJournal({ file: found, restored }));
  await restoreEntries({ journal, items: record.copy.items() });
  expect(await journal.id()).toBe(id);
  const feed = await feedOf(journal);
  expect(feed[0]?.position).toBe(61);
  expect(contentOf(feed)).toEqual(contentOf(sessions.slice(0, 60)));

  await writeInto(journal, sessions.slice(60));
  const problems: string[] = [];
  const again = startRecorder({ journal, record, onError: ({ message }) => problems.push(message) });
  opened.push(() => again.stop());
  await again.caughtUp();
  expect(problems).toEqual([]);
  expect(await record.reader.sessions({ limit: 100 })).toEqual(expect.arrayContaining(rows.slice(1)));
  const copied: FeedItem[] = [];
  for await (const batch of record.copy.items()) copied.push(...batch);
  expect(contentOf(copied)).toEqual(contentOf(sessions));
});
