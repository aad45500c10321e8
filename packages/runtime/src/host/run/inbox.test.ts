/** What a run knows of its inbox when it begins something, and how often it asks for that. */
import type { EntryBody, InboxItem } from "@troupe/core";
import { momentOf } from "@troupe/core/internal";
import { createMemoryJournal, createTwoClocks, type TwoClocks } from "@troupe/core/memory";
import { beforeEach, expect, test } from "vitest";
import { createTestDeps } from "../host-deps.test-helper.ts";
import { head, request, run, session } from "./commands.test-helper.ts";
import { RunInbox } from "./inbox.ts";

const signal = new AbortController().signal;
const cancel: InboxItem = { ...head, kind: "session.cancelled", reason: "enough" };

let clock: TwoClocks;
let journal: ReturnType<typeof createMemoryJournal>;
let reads: number;
let failures: number;
let recorded: EntryBody[];

beforeEach(() => {
  clock = createTwoClocks();
  journal = createMemoryJournal();
  reads = 0;
  failures = 0;
  recorded = [];
});

function open({ isFresh = true } = {}): RunInbox {
  const deps = { ...createTestDeps({ agents: [{ id: "main" }], script: () => ({}) }), clock };
  deps.journal = {
    ...journal,
    async readInbox(...asked) {
      reads += 1;
      if (reads <= failures) throw new Error("nobody answers");
      return await journal.readInbox(...asked);
    },
  };
  const start = { seq: 0, askedAt: isFresh ? momentOf(clock) : null };
  return new RunInbox({ deps, request, start, record: async (body) => void recorded.push(body) });
}

test("what was read when the run was taken up is not asked for again right away", async () => {
  const inbox = open();
  await inbox.isRead(signal);
  expect(reads).toBe(0);
});

test("it is where something was said meanwhile", async () => {
  const inbox = open({ isFresh: false });
  await journal.appendInbox(cancel);
  await inbox.isRead(signal);
  expect(recorded).toMatchObject([{ kind: "inbox.received", item: { kind: "session.cancelled" } }]);
});

test.for([
  ["it waited for a slot", () => clock.advance(100)],
  ["this machine slept", () => clock.sleep(60_000)],
  ["somebody set its clock", () => clock.setWall(-5_000)],
] as const)("it is where %s", async ([_, pass]) => {
  const inbox = open();
  inbox.lookAhead({ isWorkAhead: true });
  pass();
  await inbox.isRead(signal);
  expect(reads).toBe(2);
});

test("one look is enough for what begins after an append, and begins with it", async () => {
  const inbox = open();
  await journal.appendInbox(cancel);
  inbox.lookAhead({ isWorkAhead: true });
  expect(reads).toBe(1);
  await Promise.all([inbox.isRead(signal), inbox.isRead(signal)]);
  expect([reads, recorded.length]).toEqual([1, 1]);
});

test("what an earlier look has found says nothing about what follows from a later fact", async () => {
  const inbox = open();
  inbox.lookAhead({ isWorkAhead: true });
  await inbox.isRead(signal);
  inbox.lookAhead({ isWorkAhead: false });
  await journal.appendInbox(cancel);
  await inbox.isRead(signal);
  expect([reads, recorded.length]).toEqual([2, 1]);
});

test("a look that fails is made again, until the inbox can be read", async () => {
  const inbox = open();
  failures = 2;
  await journal.appendInbox(cancel);
  inbox.lookAhead({ isWorkAhead: true });
  const isRead = inbox.isRead(signal);
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
  }
  await isRead;
  expect([reads, recorded.length]).toEqual([3, 1]);
});

test("nothing begins before what was found has reached the run", async () => {
  const inbox = open();
  const kept = Promise.withResolvers<void>();
  const deps = { ...createTestDeps({ agents: [{ id: "main" }], script: () => ({}) }), clock, journal };
  const slow = new RunInbox({ deps, request, start: { seq: 0, askedAt: null }, record: () => kept.promise });
  await journal.appendInbox({ ...head, kind: "run.paused", run, by: "a" });
  let isRead = false;
  const waiting = slow.isRead(signal).then(() => {
    isRead = true;
  });
  await inbox.read();
  expect([isRead, (await journal.readInbox(session)).length]).toEqual([false, 1]);
  kept.resolve();
  await waiting;
});
