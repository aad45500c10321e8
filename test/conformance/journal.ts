import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { type FeedItem, type InboxItem, type Journal, RunRequest } from "@troupe/core";
import { type SealedEntry, sealEntry, type TurnRequested } from "@troupe/core/internal";
import { createCountingIds } from "@troupe/core/memory";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** The contract of the Journal port, tested on each adapter. */

export interface JournalUnderTest {
  journal: Journal;
  /** Closes the journal and opens it again. */
  reopen(): Promise<Journal>;
  dispose(): Promise<void>;
}

/** `outlives`: true when the entries survive a close. */
export function journalConformance(
  name: string,
  { outlives, open }: { outlives: boolean; open: () => Promise<JournalUnderTest> },
): void {
  describe(`the ${name} journal`, () => {
    const ids = createCountingIds();
    let opened: JournalUnderTest;
    let journal: Journal;
    let session: string;
    let run: string;

    beforeEach(async () => {
      opened = await open();
      journal = opened.journal;
      session = ids.next();
      run = ids.next();
    });
    afterEach(() => opened.dispose());

    const entry = (index: number, words = "x", of = run): SealedEntry =>
      sealEntry(
        { v: 1, session, run: of, index, epoch: 1, host: "host", at: 1_000 + index, prev: null },
        { kind: "timer.fired", timer: words },
      );
    const append = (after: number, entries: SealedEntry[], options: { terminal?: boolean; of?: string } = {}) =>
      journal.append({ session, run: options.of ?? run, after, entries, terminal: options.terminal ?? false });
    /** How many items the feed has by now. */
    const countItems = async (): Promise<number> => {
      const tail = await journal.tail();
      if (tail === 0) return 0;
      let count = 0;
      for await (const batch of journal.watch({ after: 0, signal: new AbortController().signal })) {
        count += batch.length;
        if ((batch.at(-1)?.position ?? 0) >= tail) break;
      }
      return count;
    };
    /** Without times, which not every journal knows. */
    const openRuns = async (of?: { session: string }) =>
      (await journal.openRuns(of)).map(({ session, run, lastIndex }) => ({ session, run, lastIndex }));
    const texts = (...entries: SealedEntry[]): string[] => entries.map(({ text }) => text);
    const cancelled = (reason: string, of = session): InboxItem => ({
      v: 1,
      kind: "session.cancelled",
      at: 2,
      session: of,
      reason,
    });

    describe("appends", () => {
      it("keeps entries in order, and returns them from any index", async () => {
        expect(await append(-1, [entry(0), entry(1)])).toEqual({ ok: true });
        expect(await append(1, [entry(2)])).toEqual({ ok: true });
        expect(await journal.readRun(session, run)).toEqual(texts(entry(0), entry(1), entry(2)));
        expect(await journal.readRun(session, run, 1)).toEqual(texts(entry(1), entry(2)));
        expect(await journal.lastOf(session, run)).toBe(entry(2).text);
      });

      it("returns nothing for an unknown run", async () => {
        expect(await journal.readRun(session, run)).toEqual([]);
        expect(await journal.lastOf(session, run)).toBeNull();
      });

      it("keeps the bytes unchanged", async () => {
        const odd = entry(0, 'é "\\" \u0000 \u2028 🙂');
        await append(-1, [odd]);
        expect(await journal.readRun(session, run)).toEqual([odd.text]);
      });

      it.each([
        { after: -1, why: "an index that is taken" },
        { after: 5, why: "an index with a gap before it" },
      ])("refuses $why, and stores no part of it", async ({ after }) => {
        await append(-1, [entry(0)]);
        const refused = await append(after, [entry(after + 1, "other"), entry(after + 2, "other")]);
        expect(refused).toEqual({ ok: false, reason: "conflict", lastIndex: 0 });
        expect(await journal.readRun(session, run)).toEqual(texts(entry(0)));
        expect(await countItems()).toBe(1);
      });

      it("keeps no trace of a run whose first append was refused", async () => {
        expect(await append(3, [entry(4)])).toEqual({ ok: false, reason: "conflict", lastIndex: -1 });
        expect(await openRuns()).toEqual([]);
      });

      it("lets exactly one of several writers win", async () => {
        const results = await Promise.all(["a", "b", "c"].map((words) => append(-1, [entry(0, words)])));
        expect(results.filter(({ ok }) => ok)).toHaveLength(1);
        expect(await journal.readRun(session, run)).toHaveLength(1);
      });

      it("lets a conflict fail alone among concurrent appends", async () => {
        const other = ids.next();
        const results = await Promise.all([
          append(-1, [entry(0)]),
          append(-1, [entry(0, "late")]),
          append(-1, [entry(0, "x", other)], { of: other }),
          append(0, [entry(1)]),
        ]);
        expect(results.map(({ ok }) => ok)).toEqual([true, false, true, true]);
        expect(await journal.readRun(session, run)).toEqual(texts(entry(0), entry(1)));
      });

      it("confirms a repeated append of a writer that lost the answer, and stores nothing twice", async () => {
        await append(-1, [entry(0), entry(1)]);
        await append(1, [entry(2)]);
        expect(await append(-1, [entry(0), entry(1)])).toEqual({ ok: true });
        expect(await append(1, [entry(2)])).toEqual({ ok: true });
        expect(await journal.readRun(session, run)).toHaveLength(3);
        expect(await countItems()).toBe(3);
      });

      it("refuses a repeated append of which only a part is stored", async () => {
        await append(-1, [entry(0), entry(1)]);
        const half = await append(0, [entry(1), entry(2)]);
        expect(half).toEqual({ ok: false, reason: "conflict", lastIndex: 1 });
      });

      it("accepts nothing after the terminal entry, except a repetition of it", async () => {
        await append(-1, [entry(0)], { terminal: true });
        expect(await append(0, [entry(1)])).toEqual({ ok: false, reason: "conflict", lastIndex: 0 });
        expect(await append(-1, [entry(0)], { terminal: true })).toEqual({ ok: true });
        expect(await journal.readRun(session, run)).toHaveLength(1);
      });

      it("rejects entries with a gap in their indexes", async () => {
        await expect(append(-1, [entry(0), entry(2)])).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
        await expect(append(-1, [entry(1)])).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
      });

      it("rejects every call once it is closed", async () => {
        await journal.close();
        await journal.close();
        await expect(append(-1, [entry(0)])).rejects.toMatchObject({ code: "CLOSED" });
        await expect(journal.appendInbox(cancelled("late"))).rejects.toMatchObject({ code: "CLOSED" });
      });
    });

    describe("inboxes and open runs", () => {
      it("numbers each session's items from 1, and returns them from any position", async () => {
        const other = ids.next();
        expect(await journal.appendInbox(cancelled("a"))).toEqual({ seq: 1 });
        expect(await journal.appendInbox(cancelled("b", other))).toEqual({ seq: 1 });
        expect(await journal.appendInbox(cancelled("c"))).toEqual({ seq: 2 });
        expect(await journal.readInbox(session)).toEqual([
          { seq: 1, item: cancelled("a") },
          { seq: 2, item: cancelled("c") },
        ]);
        expect(await journal.readInbox(session, 1)).toEqual([{ seq: 2, item: cancelled("c") }]);
        expect(await journal.readInbox(ids.next())).toEqual([]);
      });

      it("lists a requested session as open before any host has claimed it, then until it settles", async () => {
        await journal.appendInbox(requested(session, run));
        expect(await openRuns()).toEqual([{ session, run, lastIndex: -1 }]);
        await append(-1, [entry(0)]);
        expect(await openRuns()).toEqual([{ session, run, lastIndex: 0 }]);
        await append(0, [entry(1)], { terminal: true });
        expect(await openRuns()).toEqual([]);
        await journal.appendInbox(requested(session, run));
        expect(await openRuns()).toEqual([]);
      });

      it("lists the run of another turn as open in the same way", async () => {
        const next = ids.next();
        await journal.appendInbox(requested(session, run));
        await append(-1, [entry(0)], { terminal: true });
        await journal.appendInbox({ ...requested(session, next), kind: "session.continued" });
        expect(await openRuns()).toEqual([{ session, run: next, lastIndex: -1 }]);
      });

      it("lists the open runs of one session on request", async () => {
        const other = ids.next();
        const [otherRoot, child] = [ids.next(), ids.next()];
        await journal.appendInbox(requested(session, run));
        await journal.appendInbox(requested(other, otherRoot));
        await append(-1, [entry(0, "x", child)], { of: child });
        await append(-1, [entry(0)]);
        expect(await openRuns({ session })).toEqual([
          { session, run, lastIndex: 0 },
          { session, run: child, lastIndex: 0 },
        ]);
        expect(await openRuns({ session: other })).toEqual([{ session: other, run: otherRoot, lastIndex: -1 }]);
        await append(0, [entry(1)], { terminal: true });
        expect(await openRuns({ session })).toEqual([{ session, run: child, lastIndex: 0 }]);
        expect(await openRuns({ session: ids.next() })).toEqual([]);
        expect(await openRuns()).toHaveLength(2);
      });

      it("lists open runs oldest first", async () => {
        const runs = [ids.next(), ids.next(), ids.next()].reverse();
        for (const of of runs) await append(-1, [entry(0, "x", of)], { of });
        expect((await journal.openRuns()).map((open) => open.run)).toEqual(runs);
      });
    });

    describe("the feed", () => {
      const collect = async (after: number, count: number): Promise<FeedItem[]> => {
        const controller = new AbortController();
        const seen: FeedItem[] = [];
        for await (const batch of journal.watch({ after, signal: controller.signal })) {
          expect(batch.length).toBeGreaterThan(0);
          seen.push(...batch);
          if (seen.length >= count) controller.abort();
        }
        return seen;
      };
      const place = (item: FeedItem) => (item.kind === "entry" ? item.index : `inbox ${item.seq}`);

      it("delivers stored items, then new ones, without a gap or a repeat", async () => {
        await append(-1, [entry(0), entry(1)]);
        const watching = collect(0, 5);
        await journal.appendInbox(cancelled("enough"));
        await append(1, [entry(2), entry(3)]);
        const seen = await watching;
        expect(seen.map(place)).toEqual([0, 1, "inbox 1", 2, 3]);
        expect(seen[0]).toMatchObject({ kind: "entry", session, run, index: 0, text: entry(0).text });
        expect(seen[2]).toMatchObject({ kind: "inbox", session, text: JSON.stringify(cancelled("enough")) });
        const positions = seen.map(({ position }) => position);
        expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
        expect(await journal.tail()).toBe(positions.at(-1));
      });

      it("continues after any position that it has returned", async () => {
        await append(-1, [entry(0), entry(1), entry(2)]);
        const all = await collect(0, 3);
        for (const [i, item] of all.slice(0, -1).entries()) {
          expect(await collect(item.position, 2 - i)).toEqual(all.slice(i + 1));
        }
      });

      it("has the same order for every watcher, at any start", async () => {
        const early = [collect(0, 300), collect(0, 300)];
        const runs = Array.from({ length: 30 }, () => ids.next());
        const indexes = Array.from({ length: 10 }, (_, index) => index);
        await Promise.all(
          runs.map(async (of) => {
            for (const index of indexes) await append(index - 1, [entry(index, "x", of)], { of });
          }),
        );
        const [first = [], second = []] = await Promise.all(early);
        expect(first).toHaveLength(300);
        expect(second).toEqual(first);
        expect(await collect(0, 300)).toEqual(first);
        for (const of of runs) {
          const own = first.filter((item) => item.kind === "entry" && item.run === of);
          expect(own.map(place)).toEqual(indexes);
        }
      });

      it("misses nothing for a slow watcher", async () => {
        const controller = new AbortController();
        const positions: number[] = [];
        const watching = (async () => {
          for await (const batch of journal.watch({ after: 0, signal: controller.signal })) {
            positions.push(...batch.map(({ position }) => position));
            if (positions.length >= 3_000) controller.abort();
            await delay(1);
          }
        })();
        for (let first = 0; first < 3_000; first += 100) {
          const hundred = Array.from({ length: 100 }, (_, i) => entry(first + i));
          await append(first - 1, hundred);
        }
        await watching;
        expect(positions).toHaveLength(3_000);
        expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
      });

      it.each([
        { how: "the signal aborts", end: (controller: AbortController) => controller.abort() },
        { how: "the journal closes", end: () => journal.close() },
      ])("ends a waiting watch when $how", async ({ end }) => {
        const controller = new AbortController();
        await append(-1, [entry(0)]);
        const watch = journal.watch({ after: 0, signal: controller.signal })[Symbol.asyncIterator]();
        await watch.next();
        const next = watch.next();
        // By then it waits for something to come.
        await nextTurn();
        await end(controller);
        expect((await next).done).toBe(true);
      });

      it("delivers nothing to a watch that was aborted before it began", async () => {
        await append(-1, [entry(0)]);
        const batches: FeedItem[][] = [];
        for await (const batch of journal.watch({ after: 0, signal: AbortSignal.abort() })) batches.push(batch);
        expect(batches).toEqual([]);
      });
    });

    if (outlives)
      it("keeps everything when it is closed and opened again, with writes in flight", async () => {
        await append(-1, [entry(0)]);
        await append(0, [entry(1)]);
        await journal.appendInbox(cancelled("enough"));
        const pending = append(1, [entry(2)]);
        journal = await opened.reopen();
        expect(await pending).toEqual({ ok: true });
        expect(await countItems()).toBe(4);
        expect(await journal.readRun(session, run)).toEqual(texts(entry(0), entry(1), entry(2)));
        expect(await openRuns()).toEqual([{ session, run, lastIndex: 2 }]);
        expect(await journal.readInbox(session)).toHaveLength(1);
        expect(await append(1, [entry(2, "other")])).toEqual({ ok: false, reason: "conflict", lastIndex: 2 });
      });
  });
}

function requested(session: string, run: string): TurnRequested {
  return {
    v: 1,
    kind: "session.requested",
    at: 1,
    session,
    origin: "api",
    demo: false,
    request: RunRequest.parse({
      v: 1,
      session,
      run,
      parent: null,
      agent: "main",
      depth: 0,
      attempt: 1,
      task: "say hello",
      chain: [],
      layers: [],
      model: "demo/scripted",
      workspace: { id: "w", path: "/w" },
    }),
  };
}
