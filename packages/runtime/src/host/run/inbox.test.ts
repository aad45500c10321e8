/** The commands that a run has read when an effect starts, and how often it reads. */
import type { EntryBody, InboxItem } from "@troupe/core";
import { momentOf } from "@troupe/core/internal";
import { createMemoryJournal, createTwoClocks, type TwoClocks } from "@troupe/core/memory";
import { beforeEach, describe, expect, test } from "vitest";
import { createTestDeps, rootRequest } from "../host-deps.test-helper.ts";
import { head, request, run, session } from "./commands.test-helper.ts";
import { concernsRun, RunInbox } from "./inbox.ts";

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
      if (reads <= failures) throw new Error("no answer");
      return await journal.readInbox(...asked);
    },
  };
  const start = { seq: 0, readAt: isFresh ? momentOf(clock) : null };
  return new RunInbox({ deps, request, start, record: async (body) => void recorded.push(body) });
}

test("an inbox that was read for the claim is not read again right away", async () => {
  const inbox = open();
  await inbox.ensureRead(signal);
  expect(reads).toBe(0);
});

test("it is read again if a command arrived meanwhile", async () => {
  const inbox = open({ isFresh: false });
  await journal.appendInbox(cancel);
  await inbox.ensureRead(signal);
  expect(recorded).toMatchObject([{ kind: "inbox.received", item: { kind: "session.cancelled" } }]);
});

test.for([
  ["it waited for a slot", () => clock.advance(100)],
  ["this machine slept", () => clock.sleep(60_000)],
  ["its clock was set", () => clock.setWall(-5_000)],
] as const)("it is read again if %s", async ([_, pass]) => {
  const inbox = open();
  inbox.readAhead({ isWorkAhead: true });
  pass();
  await inbox.ensureRead(signal);
  expect(reads).toBe(2);
});

test("one read is enough for the effects after an append, and starts with it", async () => {
  const inbox = open();
  await journal.appendInbox(cancel);
  inbox.readAhead({ isWorkAhead: true });
  expect(reads).toBe(1);
  await Promise.all([inbox.ensureRead(signal), inbox.ensureRead(signal)]);
  expect([reads, recorded.length]).toEqual([1, 1]);
});

test("an earlier read does not count for an effect of a later entry", async () => {
  const inbox = open();
  inbox.readAhead({ isWorkAhead: true });
  await inbox.ensureRead(signal);
  inbox.readAhead({ isWorkAhead: false });
  await journal.appendInbox(cancel);
  await inbox.ensureRead(signal);
  expect([reads, recorded.length]).toEqual([2, 1]);
});

test("a read that fails is repeated, until the inbox can be read", async () => {
  const inbox = open();
  failures = 2;
  await journal.appendInbox(cancel);
  inbox.readAhead({ isWorkAhead: true });
  const read = inbox.ensureRead(signal);
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
  }
  await read;
  expect([reads, recorded.length]).toEqual([3, 1]);
});

test("no effect starts before the run has the commands that were found", async () => {
  const inbox = open();
  const stored = Promise.withResolvers<void>();
  const deps = { ...createTestDeps({ agents: [{ id: "main" }], script: () => ({}) }), clock, journal };
  const slow = new RunInbox({ deps, request, start: { seq: 0, readAt: null }, record: () => stored.promise });
  await journal.appendInbox({ ...head, kind: "run.paused", run, by: "a" });
  let isRead = false;
  const waiting = slow.ensureRead(signal).then(() => {
    isRead = true;
  });
  await inbox.read();
  expect([isRead, (await journal.readInbox(session)).length]).toEqual([false, 1]);
  stored.resolve();
  await waiting;
});

describe("a command", () => {
  const [root, lead, self, other] = ["1", "2", "3", "4"].map((n) => `0198a000-0000-7000-8000-00000000000${n}`) as [
    string,
    string,
    string,
    string,
  ];
  const child = rootRequest({ run: self, ancestors: [root, lead] });
  const head = { v: 1 as const, at: 1, session: child.session };
  const by = "a person";

  const about = {
    "run.cancelled": (id: string): InboxItem => ({ ...head, kind: "run.cancelled", run: id, reason: "enough" }),
    "run.paused": (id: string): InboxItem => ({ ...head, kind: "run.paused", run: id, by }),
    "run.resumed": (id: string): InboxItem => ({ ...head, kind: "run.resumed", run: id, by }),
    "run.steered": (id: string): InboxItem => ({ ...head, kind: "run.steered", run: id, text: "left", by }),
    "approval.answered": (id: string): InboxItem => ({
      ...head,
      kind: "approval.answered",
      run: id,
      approval: other,
      approved: true,
      scope: "once",
      reason: null,
      by,
    }),
  };

  test.for([
    { kind: "run.cancelled", reaches: { root: true, lead: true, run: true, other: false } },
    { kind: "run.paused", reaches: { root: true, lead: true, run: true, other: false } },
    { kind: "run.resumed", reaches: { root: true, lead: true, run: true, other: false } },
    { kind: "run.steered", reaches: { root: false, lead: false, run: true, other: false } },
    { kind: "approval.answered", reaches: { root: false, lead: false, run: true, other: false } },
  ] as const)("$kind about root, lead, the run, another: $reaches", ({ kind, reaches }) => {
    const reached = { root, lead, run: self, other };
    for (const [name, id] of Object.entries(reached)) {
      expect(concernsRun(about[kind](id), child), name).toBe(reaches[name as keyof typeof reaches]);
    }
  });

  test("a session's cancel reaches all its runs, its request none", () => {
    expect(concernsRun({ ...head, kind: "session.cancelled", reason: "enough" }, child)).toBe(true);
    expect(concernsRun({ ...head, kind: "session.requested", request: child, origin: "api", demo: false }, child)).toBe(
      false,
    );
  });
});
