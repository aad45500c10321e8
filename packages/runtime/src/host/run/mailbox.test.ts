/** One writer, one order, and an end after which nothing is written. */
import type { Entry, EntryBody } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { createTestDeps, entriesOf, rootRequest } from "../host-deps.test-helper.ts";
import { Mailbox } from "./mailbox.ts";

const request = rootRequest({ run: "0198a000-0000-7000-8000-000000000001" });
const fired = (timer: string): EntryBody => ({ kind: "timer.fired", timer });
const parked: EntryBody = { kind: "run.parked", reason: "pause" };

function open() {
  const deps = createTestDeps({ agents: [{ id: "main" }], script: () => ({}) });
  const seen: string[] = [];
  const fed: Entry[] = [];
  const appends: number[] = [];
  const { journal } = deps;
  deps.journal = {
    ...journal,
    append(append) {
      appends.push(append.entries.length);
      return journal.append(append);
    },
  };
  const mailbox = new Mailbox(deps, request, {
    now: () => deps.clock.now(),
    complete: (body: EntryBody) => body,
    nextEntry: () => null,
    appending() {},
    feed(entry) {
      fed.push(entry);
      seen.push(entry.kind === "timer.fired" ? entry.timer : entry.kind);
    },
    async delivered(last) {
      if (last.kind === "run.parked") mailbox.close();
    },
    lost: (why) => seen.push(`lost: ${why}`),
    failed: (error) => seen.push(`failed: ${error}`),
  });
  return { deps, mailbox, seen, fed, appends };
}

test("the mail of one turn is one append, fed in order before its senders continue", async () => {
  const { mailbox, seen, appends, deps } = open();
  await Promise.all([mailbox.put(fired("a")), mailbox.put(fired("b"))]);
  expect(seen).toEqual(["a", "b"]);
  await mailbox.put(fired("c"));
  expect(appends).toEqual([2, 1]);
  expect((await entriesOf(deps, request)).map(({ index }) => index)).toEqual([0, 1, 2]);
});

test("the run gets the stored entries: the text field of an entry is not its stored text", async () => {
  const { mailbox, deps, fed } = open();
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };
  await mailbox.put({ kind: "context.summarised", step: 1, text: "in short", usage, error: null, durationMs: 1 });
  expect(fed).toEqual(await entriesOf(deps, request));
});

test("nothing is written after a run has parked, and its senders continue", async () => {
  const { mailbox, seen, appends } = open();
  await Promise.all([mailbox.put(fired("a")), mailbox.put(parked), mailbox.put(fired("b"))]);
  await mailbox.put(fired("c"));
  expect(seen).toEqual(["a", "run.parked"]);
  expect(appends).toEqual([2]);
});

test("a mailbox that loses to another writer reports it, and continues", async () => {
  const { mailbox, seen, deps } = open();
  await mailbox.put(fired("a"));
  const another = new Mailbox(deps, request, {
    now: () => deps.clock.now(),
    feed() {},
    complete: (body: EntryBody) => body,
    nextEntry: () => null,
    appending() {},
    delivered: async () => {},
    lost: (why) => seen.push(`lost: ${why}`),
    failed() {},
  });
  await another.put(fired("b"));
  expect(seen).toEqual(["a", "lost: another writer is at index 0"]);
});

test("it is not empty before the run has all its mail", async () => {
  const { deps } = open();
  const empty: [string, boolean][] = [];
  const mailbox = new Mailbox(deps, request, {
    now: () => deps.clock.now(),
    feed: () => void empty.push(["seen", mailbox.isEmpty]),
    complete: (body: EntryBody) => body,
    nextEntry: () => null,
    appending() {},
    delivered: async () => void empty.push(["delivered", mailbox.isEmpty]),
    lost() {},
    failed() {},
  });
  const { journal } = deps;
  deps.journal = {
    ...journal,
    append(append) {
      empty.push(["stored", mailbox.isEmpty]);
      return journal.append(append);
    },
  };
  await Promise.all([mailbox.put(fired("a")), mailbox.put(fired("b"))]);
  expect(empty).toEqual([
    ["seen", false],
    ["seen", false],
    ["stored", false],
    ["delivered", true],
  ]);
});

test("a run that ends on the way gets no more mail", async () => {
  const { deps } = open();
  const seen: number[] = [];
  const mailbox = new Mailbox(deps, request, {
    now: () => deps.clock.now(),
    feed(entry) {
      seen.push(entry.index);
      mailbox.close();
    },
    complete: (body: EntryBody) => body,
    nextEntry: () => null,
    appending() {},
    delivered: async () => void seen.push(-1),
    lost() {},
    failed() {},
  });
  await Promise.all([mailbox.put(fired("a")), mailbox.put(fired("b"))]);
  expect(seen).toEqual([0]);
});

describe("an entry that follows from others", () => {
  /** A run from whose entries others follow, by name. */
  function openFollowed(follows: Record<string, EntryBody>) {
    const deps = createTestDeps({ agents: [{ id: "main" }], script: () => ({}) });
    const wanted: EntryBody[] = [];
    const seen: string[] = [];
    const problems: string[] = [];
    const mailbox: Mailbox = new Mailbox(deps, request, {
      now: () => deps.clock.now(),
      complete: (body: EntryBody) => body,
      nextEntry: () => wanted.shift() ?? null,
      appending: () => void seen.push("stored"),
      feed(entry) {
        const name = entry.kind === "timer.fired" ? entry.timer : entry.kind;
        if (name === "bad") throw new Error("a bug");
        seen.push(name);
        const next = follows[name];
        if (next) wanted.push(next);
      },
      delivered: async () => void seen.push("delivered"),
      lost: (why) => problems.push(`lost: ${why}`),
      failed: (error) => problems.push(String(error)),
    });
    return { deps, mailbox, seen, problems };
  }

  test("is published after all of them, and stored with them", async () => {
    const { deps, mailbox, seen } = openFollowed({ a: fired("c"), c: fired("d") });
    await Promise.all([mailbox.put(fired("a")), mailbox.put(fired("b"))]);
    expect(seen).toEqual(["a", "b", "c", "d", "stored", "delivered"]);
    const entries = await entriesOf(deps, request);
    expect(entries.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(entries.map(({ prev }) => prev)).toEqual([null, ...entries.slice(0, 3).map(({ hash }) => hash)]);
  });

  test("is not requested after an entry that nothing may follow", async () => {
    const { mailbox, seen } = openFollowed({ "run.parked": fired("c") });
    await mailbox.put(parked);
    expect(seen).toEqual(["run.parked", "stored", "delivered"]);
  });

  test("with a bug in it does not keep the earlier entries from being stored", async () => {
    const { deps, mailbox, seen, problems } = openFollowed({ a: fired("bad") });
    await mailbox.put(fired("a"));
    await mailbox.put(fired("b"));
    expect([seen, problems]).toEqual([["a", "stored", "delivered", "b", "stored", "delivered"], ["Error: a bug"]]);
    expect((await entriesOf(deps, request)).map(({ index }) => index)).toEqual([0, 1, 2]);
  });

  test("the run is ahead of its journal only until the next append", async () => {
    const { deps, mailbox } = openFollowed({});
    const { journal } = deps;
    const ahead: [boolean, number][] = [];
    deps.journal = {
      ...journal,
      append(append) {
        ahead.push([mailbox.isAhead, mailbox.head.index]);
        return journal.append(append);
      },
    };
    await mailbox.put(fired("a"));
    await mailbox.put(fired("b"));
    expect(ahead).toEqual([
      [true, -1],
      [true, 0],
    ]);
    expect([mailbox.isAhead, mailbox.head.index]).toEqual([false, 1]);
  });
});
