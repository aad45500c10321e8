/**
 * Commands about runs: each is stored once, heard by running hosts, and wakes parked runs, even if the record or the
 * hosts lag behind.
 */
import type { InboxItem } from "@troupe/core";
import type { RunControlOutcome } from "@troupe/core/internal";
import { createCountingIds } from "@troupe/core/memory";
import { beforeEach, describe, expect, it } from "vitest";
import { type Control, createControl } from "./control.ts";
import {
  child,
  createIdleDeps,
  createRows,
  grandchild,
  type IdleDeps,
  openRun,
  otherSession,
  parked,
  requestOf,
  requestSession,
  root,
  session,
  settled,
  sibling,
  stranger,
} from "./service.fixture.ts";

let deps: IdleDeps;
let record: ReturnType<typeof createRows>;
let control: Control;
beforeEach(async () => {
  deps = await createIdleDeps();
  record = createRows();
  control = createControl({ deps, record, ids: createCountingIds() });
});

type CommandName = (run: string) => Promise<RunControlOutcome>;
const commands: Record<string, CommandName> = {
  cancelRun: (run) => control.cancelRun(run, "enough"),
  steer: (run) => control.steer(run, "use the other file", "Ada"),
  pause: (run) => control.pause(run, "Ada"),
  resume: (run) => control.resume(run, "Ada"),
};
const everyCommand = Object.keys(commands);
const say = (name: string, run: string): Promise<RunControlOutcome> => (commands[name] as CommandName)(run);

/** main → child → grandchild, and a sibling of child; and a run of another session. */
async function growTree(rest: Parameters<typeof openRun>[2] = []): Promise<void> {
  await requestSession(deps);
  await openRun(deps, requestOf(), rest);
  await openRun(deps, requestOf({ run: child, ancestors: [root], depth: 1 }), rest);
  await openRun(deps, requestOf({ run: grandchild, ancestors: [root, child], depth: 2 }), rest);
  await openRun(deps, requestOf({ run: sibling, ancestors: [root], depth: 1 }), rest);
  await openRun(deps, requestOf({ session: otherSession, run: stranger }), rest);
}

describe("a command about a run", () => {
  it.each([
    ["cancelRun", [{ kind: "run.cancelled", at: 1_000, run: child, reason: "enough" }]],
    ["steer", [{ kind: "run.steered", at: 1_000, run: child, text: "use the other file", by: "Ada" }]],
    ["pause", [{ kind: "run.paused", at: 1_000, run: child, by: "Ada" }]],
  ])("is stored and announced: %s", async (name, items) => {
    await growTree();
    expect(await say(name, child)).toEqual({ session, run: child, outcome: "requested", status: "running" });
    expect(await deps.commands()).toEqual(items);
    expect(deps.announced).toEqual([session]);
    expect(await deps.offered()).toEqual([]);
  });

  it.each(everyCommand)("finds the run in the record and in the journal: %s", async (name) => {
    await openRun(deps, requestOf({ session: otherSession, run: stranger }));
    record.runs.set(stranger, { session: otherSession, status: "running" });
    expect(await say(name, stranger)).toMatchObject({ session: otherSession, outcome: "requested" });
  });

  it.each(everyCommand)("about an unknown run is refused: %s", async (name) => {
    await growTree();
    await expect(say(name, "01990000-0000-7000-8000-0000000000ff")).rejects.toMatchObject({
      code: "UNKNOWN_RUN",
      message: 'there is no run "01990000-0000-7000-8000-0000000000ff"',
      fix: expect.stringContaining("troupe sessions"),
    });
  });

  it.each(everyCommand)("about a settled run changes nothing: %s", async (name) => {
    await openRun(deps, requestOf(), [settled(root, "bailed_out")]);
    record.runs.set(root, { session, status: "running" });
    expect(await say(name, root)).toEqual({ session, run: root, outcome: "settled", status: "failed" });
    expect(await deps.commands()).toEqual([]);
    expect(deps.announced).toEqual([]);
  });

  it.each(everyCommand)("about a child that was dropped before it started changes nothing: %s", async (name) => {
    record.runs.set(child, { session, status: "cancelled" });
    expect(await say(name, child)).toEqual({ session, run: child, outcome: "settled", status: "cancelled" });
    expect(await deps.commands()).toEqual([]);
  });

  it("about a queued child is in the inbox when it starts", async () => {
    record.runs.set(child, { session, status: "pending" });
    expect(await control.cancelRun(child, "enough")).toMatchObject({ outcome: "requested", status: "pending" });
    expect(await deps.commands()).toMatchObject([{ kind: "run.cancelled", run: child }]);
  });
});

describe("sent twice is stored once:", () => {
  it.each([
    ["a cancel", () => [control.cancelRun(child, "one"), control.cancelRun(child, "two")], ["run.cancelled"]],
    ["a pause", () => [control.pause(child, "Ada"), control.pause(child, "Ben")], ["run.paused"]],
    [
      "a cancel of a session",
      () => [control.cancel(session, "one"), control.cancel(session, "two")],
      ["session.cancelled"],
    ],
    [
      "a cancel of a run whose session is cancelled",
      () => [control.cancel(session, "x"), control.cancelRun(child, "y")],
      ["session.cancelled"],
    ],
    ["a resume without a pause", () => [control.resume(child, "Ada")], []],
    [
      "two messages, which are both stored",
      () => [control.steer(child, "a", "x"), control.steer(child, "a", "x")],
      ["run.steered", "run.steered"],
    ],
  ])("%s", async (_, sayAll, kinds) => {
    await growTree();
    const outcomes = await Promise.all(sayAll());
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(outcomes.map(() => "requested"));
    expect((await deps.commands()).map(({ kind }) => kind)).toEqual(kinds);
  });

  const steps: [string, string, boolean][][] = [
    [
      ["pause", child, true],
      ["pause", child, false],
      ["resume", child, true],
      ["resume", child, false],
      ["pause", child, true],
      ["resume", child, true],
    ],
    // A command about an ancestor concerns the run too, but it differs from a command about the run itself.
    [
      ["pause", root, true],
      ["pause", child, true],
      ["resume", root, true],
      ["pause", child, true],
      ["resume", child, true],
      ["resume", child, false],
    ],
    [
      ["pause", child, true],
      ["pause", root, true],
      ["resume", root, true],
      ["resume", child, true],
    ],
    [
      ["pause", sibling, true],
      ["resume", child, false],
      ["pause", child, true],
      ["resume", sibling, true],
      ["pause", child, false],
    ],
  ];
  it.each(steps)("pauses and resumes, in order", async (...sent) => {
    await growTree();
    for (const [name, run, changes] of sent) {
      const before = (await deps.commands()).length;
      await say(name, run);
      expect([name, run, (await deps.commands()).length - before]).toEqual([name, run, changes ? 1 : 0]);
    }
  });
});

describe("a parked run is woken", () => {
  it.each<[string, () => Promise<unknown>, string[]]>([
    ["all runs of a session by its cancel", () => control.cancel(session, "x"), [root, child, grandchild, sibling]],
    ["a run and all below it by a cancel", () => control.cancelRun(child, "x"), [child, grandchild]],
    ["a run and all below it by a pause", () => control.pause(child, "x"), [child, grandchild]],
    ["one run by a message", () => control.steer(child, "x", "y"), [child]],
    ["no run by a resume without a pause", () => control.resume(child, "x"), []],
  ])("%s", async (_, command, woken) => {
    await growTree([parked("approval")]);
    await command();
    expect(await deps.offered()).toEqual(woken);
  });

  it.each(["approval", "pause", "drain"] as const)("if it was parked for %s", async (reason) => {
    await growTree([parked(reason)]);
    await control.cancel(session, "x");
    expect(await deps.offered()).toHaveLength(4);
  });

  it("with all runs below it by a resume", async () => {
    await growTree([parked("pause")]);
    await control.pause(child, "x");
    await deps.offered();
    await control.resume(child, "x");
    expect(await deps.offered()).toEqual([child, grandchild]);
  });

  it("with the request that it was opened with", async () => {
    await openRun(deps, requestOf({ task: "the very same" }), [parked("pause")]);
    await control.cancelRun(root, "x");
    const [task] = await deps.queue.take({ agents: ["main"], localities: [], max: 1 });
    expect(JSON.parse(new TextDecoder().decode(task?.bytes))).toEqual(requestOf({ task: "the very same" }));
  });

  it("unless it has continued or settled since", async () => {
    await openRun(deps, requestOf(), [parked("pause"), { kind: "run.claimed", reason: "resumed" }]);
    await openRun(deps, requestOf({ run: child, ancestors: [root] }), [parked("pause"), settled(child)]);
    await control.cancelRun(root, "x");
    expect(await deps.offered()).toEqual([]);
  });

  it("also by a command that was stored before, if its sender crashed before the announcement", async () => {
    await growTree([parked("approval")]);
    const stored: InboxItem = { v: 1, kind: "run.cancelled", at: 1, session, run: child, reason: "before" };
    await deps.journal.appendInbox(stored);
    await control.cancelRun(child, "again");
    expect(await deps.commands()).toHaveLength(1);
    expect(deps.announced).toEqual([session]);
    expect(await deps.offered()).toEqual([child, grandchild]);
  });
});

describe("a cancel of a session", () => {
  it("is stored before any run of it has started", async () => {
    await requestSession(deps);
    expect(await control.cancel(session, "x")).toEqual({ session, outcome: "requested", status: "pending" });
    expect(await deps.commands()).toMatchObject([{ kind: "session.cancelled", reason: "x" }]);
  });

  it("changes nothing if the session has settled", async () => {
    await requestSession(deps);
    await openRun(deps, requestOf(), [settled(root, "timeout")]);
    expect(await control.cancel(session, "x")).toEqual({ session, outcome: "settled", status: "timeout" });
    expect(await deps.commands()).toEqual([]);
  });

  it("is refused for an unknown session", async () => {
    await expect(control.cancel(otherSession, "x")).rejects.toMatchObject({
      code: "UNKNOWN_SESSION",
      fix: "troupe sessions ls",
    });
  });
});

describe("a message to a run", () => {
  it.each([
    ["nothing", "", "the message is empty"],
    ["only blanks", " \n\t", "the message is empty"],
    ["too much", "x".repeat(20_001), "the message has 20001 characters"],
  ])("is refused: %s", async (_, text, message) => {
    await growTree();
    await expect(control.steer(child, text, "Ada")).rejects.toMatchObject({ code: "USAGE", message });
    expect(await deps.commands()).toEqual([]);
  });

  it("can have 20,000 characters and is trimmed", async () => {
    await growTree();
    await control.steer(child, ` ${"x".repeat(20_000)}\n`, "Ada");
    expect(await deps.commands()).toMatchObject([{ text: "x".repeat(20_000) }]);
  });
});

it("a failed command does not block the next one", async () => {
  await growTree();
  const { journal } = deps;
  const { appendInbox } = journal;
  let failures = 1;
  journal.appendInbox = (item) => (failures-- > 0 ? Promise.reject(new Error("disk full")) : appendInbox(item));
  const [failed, next] = await Promise.allSettled([control.pause(child, "Ada"), control.pause(child, "Ada")]);
  expect(failed).toMatchObject({ status: "rejected", reason: { message: "disk full" } });
  expect(next).toMatchObject({ status: "fulfilled", value: { outcome: "requested" } });
  expect(await deps.commands()).toHaveLength(1);
});
