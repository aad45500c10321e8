/** One writer, one order, and an end after which nothing is written. */
import type { Entry, EntryBody } from "@troupe/core";
import { expect, test } from "vitest";
import { Mailbox } from "./mailbox.ts";
import { createTestWorld, entriesOf, rootRequest } from "./world.test-helper.ts";

const request = rootRequest({ run: "0198a000-0000-7000-8000-000000000001" });
const fired = (timer: string): EntryBody => ({ kind: "timer.fired", timer });
const parked: EntryBody = { kind: "run.parked", reason: "pause" };

function open() {
  const world = createTestWorld({ agents: [{ id: "main" }], script: () => ({}) });
  const seen: string[] = [];
  const fed: Entry[] = [];
  const appends: number[] = [];
  const { journal } = world;
  world.journal = {
    ...journal,
    append(append) {
      appends.push(append.entries.length);
      return journal.append(append);
    },
  };
  const mailbox = new Mailbox(world, request, {
    now: () => world.clock.now(),
    feed(entry) {
      mailbox.note(entry);
      fed.push(entry);
      seen.push(entry.kind === "timer.fired" ? entry.timer : entry.kind);
    },
    async delivered(last) {
      if (last.kind === "run.parked") mailbox.close();
    },
    lost: (why) => seen.push(`lost: ${why}`),
    failed: (error) => seen.push(`failed: ${error}`),
  });
  return { world, mailbox, seen, fed, appends };
}

test("what comes in the same turn is one append, seen in order before its senders go on", async () => {
  const { mailbox, seen, appends, world } = open();
  await Promise.all([mailbox.put(fired("a")), mailbox.put(fired("b"))]);
  expect(seen).toEqual(["a", "b"]);
  await mailbox.put(fired("c"));
  expect(appends).toEqual([2, 1]);
  expect((await entriesOf(world, request)).map(({ index }) => index)).toEqual([0, 1, 2]);
});

test("what the run sees is what is stored: a text in a fact is not the text that is stored of it", async () => {
  const { mailbox, world, fed } = open();
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };
  await mailbox.put({ kind: "context.summarised", step: 1, text: "in short", usage, error: null, durationMs: 1 });
  expect(fed).toEqual(await entriesOf(world, request));
});

test("nothing is written after a run has parked, and nobody waits for it", async () => {
  const { mailbox, seen, appends } = open();
  await Promise.all([mailbox.put(fired("a")), mailbox.put(parked), mailbox.put(fired("b"))]);
  await mailbox.put(fired("c"));
  expect(seen).toEqual(["a", "run.parked"]);
  expect(appends).toEqual([2]);
});

test("who loses its place to another writer is told, and goes on", async () => {
  const { mailbox, seen, world } = open();
  await mailbox.put(fired("a"));
  const another = new Mailbox(world, request, {
    now: () => world.clock.now(),
    feed() {},
    delivered: async () => {},
    lost: (why) => seen.push(`lost: ${why}`),
    failed() {},
  });
  await another.put(fired("b"));
  expect(seen).toEqual(["a", "lost: another writer is at index 0"]);
});

test("it is not empty before the run has seen all that was put into it", async () => {
  const { world } = open();
  const empty: [string, boolean][] = [];
  const mailbox = new Mailbox(world, request, {
    now: () => world.clock.now(),
    feed: (entry) => {
      mailbox.note(entry);
      empty.push(["seen", mailbox.isEmpty]);
    },
    delivered: async () => void empty.push(["delivered", mailbox.isEmpty]),
    lost() {},
    failed() {},
  });
  const { journal } = world;
  world.journal = {
    ...journal,
    append(append) {
      empty.push(["stored", mailbox.isEmpty]);
      return journal.append(append);
    },
  };
  await Promise.all([mailbox.put(fired("a")), mailbox.put(fired("b"))]);
  expect(empty).toEqual([
    ["stored", false],
    ["seen", false],
    ["seen", false],
    ["delivered", true],
  ]);
});

test("a run that ends on the way sees nothing more", async () => {
  const { world } = open();
  const seen: number[] = [];
  const mailbox = new Mailbox(world, request, {
    now: () => world.clock.now(),
    feed(entry) {
      mailbox.note(entry);
      seen.push(entry.index);
      mailbox.close();
    },
    delivered: async () => void seen.push(-1),
    lost() {},
    failed() {},
  });
  await Promise.all([mailbox.put(fired("a")), mailbox.put(fired("b"))]);
  expect(seen).toEqual([0]);
});
