import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EntryBody, FeedItem } from "@troupe/core";
import { hashText } from "@troupe/core/internal";
import { createMemoryJournal } from "@troupe/core/memory";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { openSqlite } from "../database/sqlite.ts";
import {
  createFeedBuilder,
  type FeedBuilder,
  largeSession,
  rowsOf,
  sessionFixtures,
} from "../feed-builder.test-helper.ts";
import { type FollowedJournal, feedJournal } from "./feed-journal.test-helper.ts";
import { readIntegrity } from "./integrity.ts";
import type { RecordProblem } from "./record-problem.ts";
import { openRecord, type RecordStore } from "./record-store.ts";
import { type Recorder, startRecorder } from "./recorder.ts";

/** The subscription: after every kind of interruption, the rows match the journal. */

let folder: string;
let opened: (() => Promise<unknown> | unknown)[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-recorder-"));
  opened = [];
});
afterEach(async () => {
  for (const close of opened.reverse()) await close();
  await rm(folder, { recursive: true });
});

async function recordOf(name: string): Promise<{ file: string; record: RecordStore }> {
  const file = join(folder, name);
  const record = await openRecord({ file });
  opened.push(record.close);
  return { file, record };
}

function start(journal: FollowedJournal, record: RecordStore, problems: RecordProblem[] = []): Recorder {
  const recorder = startRecorder({ journal, record, onError: (problem) => problems.push(problem) });
  opened.push(recorder.stop);
  return recorder;
}

/** The rows of a feed that was written at once, without a subscription. */
async function rowsOfFeed(items: FeedItem[], problems: RecordProblem[] = []): Promise<Record<string, unknown[]>> {
  const { file, record } = await recordOf("whole.db");
  problems.push(...record.write(items));
  return rowsOf(file);
}

describe("the subscription", () => {
  it("records the items of a journal, and later items", async () => {
    const journal = createMemoryJournal();
    opened.push(journal.close);
    const { file, record } = await recordOf("troupe.db");
    const recorder = start(journal, record);
    const { session, feed } = largeSession();
    for (const item of feed) {
      if (item.kind === "inbox") await journal.appendInbox(JSON.parse(item.text));
      else {
        const { run, index, text } = item;
        await journal.append({ session, run, after: index - 1, entries: [{ index, hash: "", text }], terminal: false });
      }
    }
    await recorder.caughtUp();
    expect(record.reader.position()).toBe(await journal.tail());
    expect(await record.reader.session(session)).toMatchObject({ session: { status: "completed", runs: 5 } });
    expect(rowsOf(file)).toEqual(await rowsOfFeed(feed));
  });

  it("has caught up with an empty journal at once", async () => {
    const { record } = await recordOf("troupe.db");
    await start(createMemoryJournal(), record).caughtUp();
    expect(record.reader.position()).toBe(0);
  });

  const stops = sessionFixtures.flatMap((builder) => [1, 2, 7, 16, 24].map((count) => ({ ...builder, count })));
  it.each(stops)("continues at its position: after $count items of $name", async ({ write, count }) => {
    const { feed } = write();
    const { file, record } = await recordOf("troupe.db");
    const first = start(feedJournal(feed, count), record);
    await first.caughtUp();
    await first.stop();
    record.close();
    const again = await openRecord({ file });
    opened.push(again.close);
    await start(feedJournal(feed), again).caughtUp();
    expect(rowsOf(file)).toEqual(await rowsOfFeed(feed));
  });

  it.each(sessionFixtures)("changes nothing when all of $name is repeated", async ({ write }) => {
    const { feed } = write();
    const { file, record } = await recordOf("troupe.db");
    const problems: RecordProblem[] = [];
    const repeated = [...feed, ...feed, ...feed.slice(5, 9)].map((item, i) => ({ ...item, position: i + 1 }));
    await start(feedJournal(repeated), record, problems).caughtUp();
    const { cursor: _far, ...rows } = rowsOf(file);
    const { cursor: _near, ...once } = await rowsOfFeed(feed);
    expect(rows).toEqual(once);
    expect(problems).toEqual([]);
  });

  it.each(sessionFixtures)("rebuilds a deleted record of $name, with the same rows", async ({ write }) => {
    const { feed } = write();
    const { file, record } = await recordOf("troupe.db");
    const journal = feedJournal(feed, 10);
    const recorder = start(journal, record);
    await recorder.caughtUp();
    journal.show(feed.length);
    await recorder.caughtUp();
    await recorder.stop();
    record.close();
    const before = rowsOf(file);
    expect(before.runs).toHaveLength(5);
    await rm(file);
    const rebuilt = await openRecord({ file });
    opened.push(rebuilt.close);
    expect(rebuilt.reader.position()).toBe(0);
    await start(journal, rebuilt).caughtUp();
    expect(rowsOf(file)).toEqual(before);
  });

  it.each(sessionFixtures)(
    "gives the same rows of $name with any division of the feed, and any stop",
    async ({ write }) => {
      const { feed } = write();
      const whole = await rowsOfFeed(feed);
      let count = 0;
      const cuts = fc.array(fc.record({ size: fc.integer({ min: 1, max: 9 }), restart: fc.boolean() }), {
        maxLength: 30,
      });
      await fc.assert(
        fc.asyncProperty(cuts, async (plan) => {
          count += 1;
          const file = join(folder, `split-${count}.db`);
          let record = await openRecord({ file });
          let next = 0;
          for (const { size, restart } of [...plan, { size: feed.length, restart: false }]) {
            // Every batch begins with items that the previous one may contain.
            record.write(feed.slice(Math.max(0, next - 2), next + size));
            next += size;
            if (!restart) continue;
            record.close();
            record = await openRecord({ file });
          }
          record.close();
          expect(rowsOf(file)).toEqual(whole);
        }),
        { numRuns: inject("long") ? 200 : 10 },
      );
    },
  );

  it.each(sessionFixtures)(
    "has the same rows at every item of $name, in one go or reopened after each",
    async ({ write }) => {
      const { feed } = write();
      const { file, record: first } = await recordOf("step-by-step.db");
      first.close();
      for (const count of feed.keys()) {
        const record = await openRecord({ file });
        record.write(feed.slice(count, count + 1));
        record.close();
        if (!inject("long") && count % 4 !== 3) continue;
        const whole = await recordOf(`first-${count}.db`);
        whole.record.write(feed.slice(0, count + 1));
        expect(rowsOf(file)).toEqual(rowsOf(whole.file));
      }
    },
  );

  it("yields to other callers between batches", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" }).opened();
    for (let i = 0; i < 600; i += 1) root.write({ kind: "timer.fired", timer: "tick" });
    const { record } = await recordOf("troupe.db");
    const seen: number[] = [];
    record.reader.onChange(({ position }) => setImmediate(() => seen.push(position)));
    await start(feedJournal(builder.feed), record).caughtUp();
    expect(seen.slice(0, 2)).toEqual([200, 400]);
  });
});

describe("an invalid item", () => {
  const tick = { kind: "timer.fired", timer: "tick" } as const;

  /** A root with five entries, one of them changed. */
  function tampered(change: (item: FeedItem) => FeedItem): { builder: FeedBuilder; feed: FeedItem[] } {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    builder.requested(root);
    root.opened().write(tick).replied([]).write(tick).settled();
    return { builder, feed: builder.feed.map((item) => (item.position === 4 ? change(item) : item)) };
  }
  const reseal = (text: string, change: (value: Record<string, unknown>) => unknown): string => {
    const { hash: _old, ...value } = JSON.parse(text) as Record<string, unknown>;
    const open = JSON.stringify(change(value));
    return `${open.slice(0, -1)},"hash":"${hashText(open)}"}`;
  };

  it.each([
    {
      what: "a flipped bit",
      change: (item: FeedItem) => ({ ...item, text: item.text.replace("thinking", "thinkinf") }),
    },
    { what: "no JSON", change: (item: FeedItem) => ({ ...item, text: "?" }) },
    {
      what: "an unknown kind",
      change: (item: FeedItem) => ({
        ...item,
        text: reseal(item.text, (value) => ({ ...value, kind: "model.dreamt" })),
      }),
    },
    {
      what: "an entry at another index",
      change: (item: FeedItem) => ({ ...item, text: reseal(item.text, (value) => ({ ...value, session: value.run })) }),
    },
    {
      what: "a broken chain",
      change: (item: FeedItem) => ({
        ...item,
        text: reseal(item.text, (value) => ({ ...value, prev: hashText("?") })),
      }),
    },
    {
      what: "an invalid time",
      change: (item: FeedItem) => ({ ...item, text: reseal(item.text, (value) => ({ ...value, at: 9e15 })) }),
    },
  ])("that $what is skipped and reported, and the next items are recorded", async ({ change }) => {
    const { builder, feed } = tampered(change);
    const { record } = await recordOf("troupe.db");
    const problems: RecordProblem[] = [];
    await start(feedJournal(feed), record, problems).caughtUp();
    expect(problems).toMatchObject([{ kind: "quarantined", session: builder.session, index: 2, position: 4 }]);
    expect(record.quarantined()).toBe(1);
    expect(await record.reader.session(builder.session)).toMatchObject({
      session: { status: "completed" },
      flaws: [{ kind: "quarantined", index: 2, reason: problems[0]?.message.replace(/^entry 2 of run \S+ /, "") }],
    });
    const run = problems[0]?.run ?? "";
    expect(await record.reader.entries(run, { from: 0, limit: 10 })).toHaveLength(4);
  });

  it("of an inbox is skipped", async () => {
    const builder = createFeedBuilder();
    builder.inbox({ v: 1, kind: "session.cancelled", at: 1, session: builder.session, reason: "x" });
    const problems: RecordProblem[] = [];
    const rows = await rowsOfFeed(
      builder.feed.map((item) => ({ ...item, text: "{}" })),
      problems,
    );
    expect(problems).toMatchObject([{ kind: "quarantined", run: null, index: 1 }]);
    expect(rows.quarantine).toHaveLength(1);
  });

  it("that forks a run is kept beside the other branch, reported once, and the first one counts", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    builder.requested(root);
    root.opened().replied([["read", { path: "first" }]]);
    const other: EntryBody = { kind: "timer.fired", timer: "other host" };
    root.write(other, { beside: true });
    const forked = builder.feed.at(-1);
    root.write({ kind: "timer.fired", timer: "third host" }, { beside: true });
    root.settled();
    const { file, record } = await recordOf("troupe.db");
    const problems: RecordProblem[] = [];
    const twice = [...builder.feed, ...(forked ? [forked] : [])].map((item, i) => ({ ...item, position: i + 1 }));
    await start(feedJournal(twice), record, problems).caughtUp();
    expect(problems).toMatchObject([{ kind: "forked", index: 1, run: root.request.run }]);
    expect(rowsOf(file).entries).toMatchObject([{ idx: 0 }, { idx: 1 }, { idx: 1 }, { idx: 1 }, { idx: 2 }]);
    expect(await record.reader.session(builder.session)).toMatchObject({
      session: { status: "completed" },
      flaws: [{ kind: "forked", run: root.request.run, index: 1 }],
    });
    expect(readIntegrity({ file })).toEqual({ forked: 1, quarantined: 0, session: builder.session });
  });
});

describe("a fault", () => {
  it("such as a locked database is waited out and reported, without a loss", async () => {
    const { feed } = largeSession();
    const { file, record } = await recordOf("troupe.db");
    const broken = openSqlite(file);
    opened.push(() => broken.close());
    broken.exec(
      "CREATE TRIGGER fail BEFORE INSERT ON entries WHEN NEW.idx = 2 BEGIN SELECT RAISE(ABORT, 'the disk broke'); END",
    );
    const problems: RecordProblem[] = [];
    const stalled = Promise.withResolvers<void>();
    const recorder = startRecorder({
      journal: feedJournal(feed),
      record,
      onError(problem) {
        problems.push(problem);
        stalled.resolve();
      },
    });
    opened.push(recorder.stop);
    await stalled.promise;
    expect(record.reader.position()).toBe(0);
    broken.exec("DROP TRIGGER fail");
    await recorder.caughtUp();
    expect(problems[0]).toMatchObject({ kind: "stalled", message: expect.stringContaining("the disk broke") });
    expect(rowsOf(file)).toEqual(await rowsOfFeed(feed));
  });

  it("does not delay a stop between two tries", async () => {
    const { record } = await recordOf("troupe.db");
    const stalled = Promise.withResolvers<void>();
    const stuck = {
      ...record,
      write: () => {
        throw new Error("full");
      },
    };
    const recorder = startRecorder({
      journal: feedJournal(largeSession().feed),
      record: stuck,
      onError: () => stalled.resolve(),
    });
    await stalled.promise;
    const waiting = recorder.caughtUp();
    await Promise.all([recorder.stop(), expect(waiting).rejects.toMatchObject({ code: "CLOSED" })]);
    await recorder.stop();
  });

  it.each([
    { what: "shorter", feed: () => largeSession().feed.slice(0, 3) },
    { what: "different", feed: () => largeSession().feed.map((item) => ({ ...item, text: `${item.text} ` })) },
  ])("such as a journal that is $what than the known one ends the recorder", async ({ feed }) => {
    const { file, record } = await recordOf("troupe.db");
    const first = start(feedJournal(largeSession().feed, 10), record);
    await first.caughtUp();
    await first.stop();
    const before = rowsOf(file);
    const problems: RecordProblem[] = [];
    const second = start(feedJournal(feed()), record, problems);
    await expect(second.caughtUp()).rejects.toMatchObject({ code: "DATABASE_DAMAGED" });
    expect(problems).toMatchObject([{ kind: "stopped", message: expect.stringContaining("another journal") }]);
    expect(rowsOf(file)).toEqual(before);
  });
});
