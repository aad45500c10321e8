import { setImmediate as nextTurn } from "node:timers/promises";
import { type FeedItem, TroupeError } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { createLiveFeed, type LiveFeed } from "./live-feed.ts";

/** A watcher gets each item once: from memory while it keeps up, from the file if it lags. */

interface Harness {
  feed: LiveFeed;
  /** Positions that were read from the file. */
  paged: number[];
  store(count: number): void;
}

function createHarness(stored = 0): Harness {
  const file: FeedItem[] = [];
  const paged: number[] = [];
  const add = (count: number): FeedItem[] => {
    const items = Array.from({ length: count }, (_, i): FeedItem => {
      return { position: file.length + 1 + i, kind: "inbox", session: "s", seq: 1, text: "" };
    });
    file.push(...items);
    return items;
  };
  add(stored);
  const feed = createLiveFeed(stored, async (after) => {
    paged.push(after);
    return file.slice(after, after + 500);
  });
  return { feed, paged, store: (count) => feed.publish(add(count)) };
}

function watch(feed: LiveFeed, after = 0) {
  const controller = new AbortController();
  const batches = feed.watch({ after, signal: controller.signal });
  const next = async (): Promise<number[]> => ((await batches.next()).value ?? []).map(({ position }) => position);
  return { controller, batches, next };
}

const range = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe("a watcher", () => {
  it("that keeps up never asks the file", async () => {
    const { feed, paged, store } = createHarness();
    const { next } = watch(feed);
    for (const first of [1, 4, 7]) {
      const waiting = next();
      store(3);
      expect(await waiting).toEqual(range(first, first + 2));
    }
    expect(paged).toEqual([]);
  });

  it("gets the items that arrived meanwhile as one batch, of 500 at most", async () => {
    const { feed, store } = createHarness();
    const { next } = watch(feed);
    const first = next();
    store(1);
    await first;
    store(300);
    store(300);
    expect(await next()).toEqual(range(2, 501));
    expect(await next()).toEqual(range(502, 601));
  });

  it("reads stored items from the file, page by page, and switches to memory without a repeat", async () => {
    const { feed, paged, store } = createHarness(700);
    const { next } = watch(feed);
    expect(await next()).toEqual(range(1, 500));
    store(2);
    expect(await next()).toEqual(range(501, 702));
    const waiting = next();
    store(1);
    expect(await waiting).toEqual([703]);
    expect(paged).toEqual([0, 500]);
  });

  it("that falls far behind is not kept in memory, and misses nothing", async () => {
    const { feed, paged, store } = createHarness();
    const { next } = watch(feed);
    const first = next();
    store(1);
    await first;
    for (let i = 0; i < 3; i += 1) store(900);
    store(1);
    const seen: number[] = [];
    while (seen.length < 2_701) seen.push(...(await next()));
    expect(seen).toEqual(range(2, 2_702));
    expect(paged[0]).toBe(1);
  });

  it("wakes up and ends when its signal aborts", async () => {
    const { controller, batches } = watch(createHarness().feed);
    const waiting = batches.next();
    await nextTurn();
    controller.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it.each([
    { how: "quietly when the journal closes", error: null },
    { how: "with the error that ended the journal", error: new TroupeError("INTERNAL", "gone") },
  ])("ends $how", async ({ error }) => {
    const { feed } = createHarness();
    const { batches } = watch(feed);
    const waiting = batches.next();
    await nextTurn();
    feed.end(error);
    if (error) await expect(waiting).rejects.toBe(error);
    else expect((await waiting).done).toBe(true);
  });
});
