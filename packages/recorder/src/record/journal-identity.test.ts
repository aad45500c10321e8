import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type FeedItem, TroupeError } from "@troupe/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { largeSession, rowsOf } from "../feed-builder.test-helper.ts";
import { openSqliteJournal } from "../journal/sqlite-journal.ts";
import { batchFeed } from "./batch-feed.ts";
import { type FollowedJournal, feedJournal } from "./feed-journal.test-helper.ts";
import type { ForeignJournalError } from "./journal-identity.ts";
import type { RecordProblem } from "./record-problem.ts";
import { openRecord, type RecordStore } from "./record-store.ts";
import { type Recorder, startRecorder } from "./recorder.ts";

/** The recorder verifies the journal, reports its position to it, and survives a lost connection. */

let folder: string;
let file: string;
let record: RecordStore;
let opened: (() => Promise<unknown> | unknown)[];
let problems: RecordProblem[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-following-"));
  file = join(folder, "troupe.db");
  record = await openRecord({ file });
  problems = [];
  opened = [() => record.close()];
});
afterEach(async () => {
  for (const close of opened.reverse()) await close();
  await rm(folder, { recursive: true });
});

function start(journal: FollowedJournal, whenOther?: ForeignJournalError): Recorder {
  const recorder = startRecorder({
    journal,
    record,
    ...(whenOther ? { foreignJournalError: whenOther } : {}),
    onError: (problem) => problems.push(problem),
  });
  opened.push(recorder.stop);
  return recorder;
}

async function recorded(journal: FollowedJournal): Promise<void> {
  const recorder = start(journal);
  await recorder.caughtUp();
  await recorder.stop();
}

/** Positions like those of a stream: far apart, and not starting at 1. */
function spread(feed: readonly FeedItem[]): FeedItem[] {
  return feed.map((item, i) => ({ ...item, position: (i + 7) * 4_096 }));
}

const { feed } = largeSession();

describe("another journal", () => {
  const lost: ForeignJournalError = { code: "JOURNAL_LOST", fix: "troupe nats restore" };

  it.each([
    { what: "the record's own file", whenOther: undefined, code: "DATABASE_DAMAGED", fix: "troupe.db" },
    { what: "a stream", whenOther: lost, code: "JOURNAL_LOST", fix: "troupe nats restore" },
  ])("in place of $what is not mixed in, and costs no row", async ({ whenOther, code, fix }) => {
    await recorded(feedJournal(feed, 10));
    const before = rowsOf(file);
    const recorder = start({ ...feedJournal(feed), id: async () => "another" }, whenOther);
    await expect(recorder.ready()).rejects.toMatchObject({ code, fix: expect.stringContaining(fix) });
    await expect(recorder.caughtUp()).rejects.toMatchObject({ code });
    expect(problems).toMatchObject([{ kind: "stopped", message: expect.stringContaining("another journal") }]);
    expect(rowsOf(file)).toEqual(before);
  });

  it("is recognised by its content if the record is older than ids", async () => {
    record.write(feed.slice(0, 10));
    const other = feed.map((item) => ({ ...item, text: `${item.text} ` }));
    await expect(start(feedJournal(other)).ready()).rejects.toMatchObject({ code: "DATABASE_DAMAGED" });
    expect(record.origin().journal).toBeNull();
  });

  it("is not assumed if a record older than ids finds its newest item: the record then gets an id", async () => {
    record.write(feed.slice(0, 10));
    await recorded(feedJournal(feed));
    expect(record.origin().journal).toBe("a journal");
  });

  it("is not assumed for a moved home", async () => {
    const [here, there] = [join(folder, "here"), join(folder, "there")];
    const before = await openSqliteJournal({ file: join(here, "journal.db") });
    const id = await before.id();
    await before.close();
    await rename(here, there);
    const after = await openSqliteJournal({ file: join(there, "journal.db") });
    opened.push(after.close);
    expect(await after.id()).toBe(id);
    const other = await openSqliteJournal({ file: join(folder, "other.db") });
    opened.push(other.close);
    expect(await other.id()).not.toBe(id);
  });
});

describe("a journal that deletes old items", () => {
  it("is followed further if the last recorded item is gone", async () => {
    const all = spread(feed);
    await recorded(feedJournal(all, 10));
    await recorded(feedJournal(all.slice(11)));
    expect(problems.filter(({ kind }) => kind !== "quarantined")).toEqual([]);
    expect(record.cursor().position).toBe(all.at(-1)?.position);
  });

  it("is followed if there is nothing new, and all items are gone", async () => {
    const all = spread(feed);
    await recorded(feedJournal(all));
    const tail = all.at(-1)?.position ?? 0;
    const recorder = start({ ...feedJournal([]), tail: async () => tail });
    await recorder.ready();
    await recorder.caughtUp();
    expect(record.cursor().position).toBe(tail);
  });

  it("gives the same rows with gaps between positions, and stops of the recorder at any position", async () => {
    const all = spread(feed);
    for (let count = 1; count <= all.length; count += 3) await recorded(feedJournal(all, count));
    await recorded(feedJournal(all));
    const whole = await openRecord({ file: join(folder, "whole.db") });
    whole.write(all);
    whole.close();
    expect(rowsOf(file)).toEqual(rowsOf(join(folder, "whole.db")));
  });

  it("is told the recorder's position, never before the rows are stored, and at the latest at its stop", async () => {
    const reports: [follower: string, position: number, recorded: number][] = [];
    const journal: FollowedJournal = {
      ...feedJournal(feed),
      checkpoint: async (follower, position) => void reports.push([follower, position, record.cursor().position]),
    };
    await recorded(journal);
    const last = feed.at(-1)?.position ?? 0;
    const { follower } = record.origin();
    expect(follower).toMatch(/^[0-9a-f]{32}$/);
    expect(reports.at(-1)).toEqual([follower, last, last]);
    expect(reports.filter(([, position, recorded]) => position > recorded)).toEqual([]);
    record.close();
    record = await openRecord({ file });
    reports.length = 0;
    await recorded(journal);
    // The earlier report may have been lost with its process.
    expect(reports).toEqual([[follower, last, last]]);
  });

  it("has this record as one reader under one name, for the life of the file", async () => {
    const names: (string | undefined)[] = [];
    const plain = feedJournal(feed);
    const journal: FollowedJournal = {
      ...plain,
      watch(options) {
        names.push(options.follower);
        return plain.watch(options);
      },
    };
    await recorded(journal);
    record.close();
    record = await openRecord({ file });
    await recorded(journal);
    expect(new Set(names)).toEqual(new Set([record.origin().follower]));
  });
});

describe("an unreachable journal", () => {
  it("is waited for through any number of broken feeds, without a loss or a repeat", async () => {
    const plain = feedJournal(feed);
    let breaks = 0;
    const recorder = start({
      ...plain,
      async *watch(options) {
        let count = 0;
        for await (const batch of plain.watch(options)) {
          for (const item of batch) {
            yield [item];
            count += 1;
            if (count < 7 || breaks === 3) continue;
            breaks += 1;
            throw new TroupeError("UNREACHABLE", "no NATS server answers");
          }
        }
      },
    });
    const stalls = (): number => problems.filter(({ kind }) => kind === "stalled").length;
    await expect.poll(stalls).toBe(3);
    await expect.poll(() => record.cursor().position).toBe(feed.at(-1)?.position);
    await recorder.caughtUp();
    const whole = await openRecord({ file: join(folder, "whole.db") });
    whole.write(feed);
    whole.close();
    expect(rowsOf(file)).toEqual(rowsOf(join(folder, "whole.db")));
  });

  it("rejects a call of caughtUp, which does not wait forever", async () => {
    const journal: FollowedJournal = {
      ...feedJournal(feed),
      // biome-ignore lint/correctness/useYield: it breaks before it has anything
      async *watch() {
        throw new TroupeError("UNREACHABLE", "no NATS server answers");
      },
    };
    const recorder = start(journal);
    await expect(recorder.caughtUp()).rejects.toMatchObject({ code: "UNREACHABLE" });
    const stopping = performance.now();
    await recorder.stop();
    expect(performance.now() - stopping).toBeLessThan(10_000);
  });

  it("does not keep a recorder from stopping if it cannot store the position", async () => {
    const recorder = start({ ...feedJournal(feed), checkpoint: () => new Promise(() => {}) });
    await recorder.caughtUp();
    await expect(recorder.stop()).resolves.toBeUndefined();
  });
});

describe("a feed that is read ahead", () => {
  const item = (position: number): FeedItem => ({ position, kind: "inbox", session: "s", seq: position, text: "" });
  const options = { itemsMax: 3, aheadMax: 6, gatherMs: 1 };

  it("comes in batches of the items that arrived meanwhile, in order and within the allowed size", async () => {
    const batches: number[][] = [];
    const feed = (async function* () {
      for (let position = 1; position <= 8; position += 1) yield [item(position)];
    })();
    for await (const batch of batchFeed(feed, options)) {
      batches.push(batch.map(({ position }) => position));
      await delay(1);
    }
    expect(batches.flat()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(batches.length).toBeLessThan(8);
    expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(3);
  });

  it("is read no further ahead than allowed, and not at all after the consumer has left", async () => {
    let read = 0;
    const feed = (async function* () {
      for (;;) yield [item(++read)];
    })();
    for await (const _ of batchFeed(feed, options)) {
      await delay(1);
      expect(read).toBeLessThanOrEqual(6 + 3);
      break;
    }
    const before = read;
    await delay(1);
    expect(read - before).toBeLessThanOrEqual(1);
  });

  it("delivers all items from before it broke", async () => {
    const seen: FeedItem[] = [];
    const feed = (async function* () {
      for (let position = 1; position <= 5; position += 1) yield [item(position)];
      throw new Error("cut");
    })();
    const taking = (async () => {
      for await (const batch of batchFeed(feed, options)) seen.push(...batch);
    })();
    await expect(taking).rejects.toThrow("cut");
    expect(seen).toHaveLength(5);
  });
});
