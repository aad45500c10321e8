import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApprovalRow } from "@troupe/core";
import type { Approval, RecordChange } from "@troupe/core/internal";
import { createCountingIds } from "@troupe/core/memory";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  commandedSession,
  createFeedBuilder,
  type FeedBuilder,
  feedStartMs,
  type RunBuilder,
} from "../feed-builder.test-helper.ts";
import { openRecord, type RecordStore } from "./record-store.ts";

/** Approvals, from the request to the answer. */

let folder: string;
let record: RecordStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-approvals-"));
  record = await openRecord({ file: join(folder, "troupe.db") });
});
afterEach(async () => {
  record.close();
  await rm(folder, { recursive: true });
});

interface RunWithApprovals {
  builder: FeedBuilder;
  root: RunBuilder;
  first: Approval;
  second: Approval;
}

/** A run that requests approvals for two calls of one tool. */
function aRunWithApprovals(ids = createCountingIds()): RunWithApprovals {
  const builder = createFeedBuilder(ids);
  const root = builder.run({ agent: "main" });
  builder.requested(root);
  root.opened().replied([
    ["shell", { command: "a" }],
    ["shell", { command: "b" }],
  ]);
  return {
    builder,
    root,
    first: root.asked(0, "shell", { command: "a" }),
    second: root.asked(1, "shell", { command: "b" }),
  };
}

const all = () => record.reader.approvals({ waiting: false, limit: 100 });
const waiting = () => record.reader.approvals({ waiting: true, limit: 100 });
const statesOf = (rows: readonly ApprovalRow[]) => rows.map(({ args, state }) => [JSON.stringify(args), state]);
const states = async () => statesOf(await all());
const [a, b] = ['{"command":"a"}', '{"command":"b"}'];

describe("an approval", () => {
  it("is stored whole, and waits", async () => {
    const { builder, root, first } = aRunWithApprovals();
    record.write(builder.feed);
    const question: ApprovalRow = {
      id: first.id,
      session: builder.session,
      run: root.request.run,
      agent: "main",
      team: null,
      path: ["main"],
      tool: "shell",
      args: { command: "a" },
      risk: "high",
      reason: "it can do anything",
      state: "waiting",
      requestedAt: new Date(feedStartMs + 4_000).toISOString(),
      answeredAt: null,
      scope: null,
      by: null,
      answerReason: null,
    };
    expect((await all())[0]).toEqual(question);
    expect(await record.reader.approval(first.id)).toEqual(question);
    expect(await record.reader.run(root.request.run)).toMatchObject({ status: "running", exactStatus: "waiting" });
  });

  it("keeps its arguments in full, at any length", async () => {
    const { builder, root } = aRunWithApprovals();
    const { id } = root.asked(0, "write", { content: "x".repeat(50_000) });
    record.write(builder.feed);
    expect(await record.reader.approval(id)).toMatchObject({ args: { content: "x".repeat(50_000) } });
  });

  it("about a whole run names no tool", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    builder.requested(root);
    root.opened();
    const { id } = root.asked(0, null, { request: "all of it" });
    record.write(builder.feed);
    expect(await record.reader.approval(id)).toMatchObject({ tool: null, state: "waiting" });
  });

  it("that does not exist is null", async () => {
    expect(await record.reader.approval("00000000-0000-7000-8000-00000000ffff")).toBeNull();
    expect(await all()).toEqual([]);
  });
});

describe("an answer", () => {
  it.each([
    { approved: true, state: "approved", reason: null },
    { approved: false, state: "denied", reason: "too bold" },
  ])("is visible as soon as it is in the inbox: $state", async ({ approved, state, reason }) => {
    const { builder, root, first } = aRunWithApprovals();
    const answer = builder.answered(root, first, { approved, reason });
    record.write(builder.feed);
    expect(await record.reader.approval(first.id)).toMatchObject({
      state,
      answeredAt: new Date(answer.at).toISOString(),
      scope: "once",
      by: "Ada",
      answerReason: reason,
    });
    expect(statesOf(await waiting())).toEqual([[b, "waiting"]]);
    // The run itself has not received it.
    expect(await record.reader.run(root.request.run)).toMatchObject({ exactStatus: "waiting" });
  });

  it("is final: the first one counts", async () => {
    const { builder, root, first } = aRunWithApprovals();
    builder.answered(root, first, { by: "Ada" });
    builder.answered(root, first, { by: "Bob", approved: false });
    builder.answered(root, first, { by: "Eve", scope: "run" });
    record.write(builder.feed);
    expect(await record.reader.approval(first.id)).toMatchObject({ state: "approved", by: "Ada" });
    expect(await states()).toEqual([
      [a, "approved"],
      [b, "waiting"],
    ]);
  });

  it("counts for a repetition of the same approval", async () => {
    const { builder, root, first } = aRunWithApprovals();
    builder.answered(root, first);
    root.asked(0, "shell", { command: "a" });
    record.write(builder.feed);
    expect(await record.reader.approval(first.id)).toMatchObject({ state: "approved", by: "Ada" });
  });

  it("for the rest of the run also answers the waiting approvals of that tool, and of no other", async () => {
    const { builder, root, first } = aRunWithApprovals();
    root.asked(0, "write", { path: "x" });
    builder.answered(root, first, { scope: "run" });
    record.write(builder.feed);
    expect(await states()).toEqual([
      [a, "approved"],
      [b, "approved"],
      ['{"path":"x"}', "waiting"],
    ]);
  });

  it("for the rest of the run answers no approval that it does not cover", async () => {
    const { builder, root } = aRunWithApprovals();
    const publish = root.asked(0, "shell", { command: "npm publish" }, { covers: ["npm publish"] });
    root.asked(1, "shell", { command: "npm publish x" }, { covers: ["npm publish"] });
    root.asked(2, "shell", { command: "npm publish; c" }, { covers: ["npm publish", "c"] });
    builder.answered(root, publish, { scope: "run" });
    record.write(builder.feed);
    expect(statesOf(await waiting())).toEqual([
      [a, "waiting"],
      [b, "waiting"],
      ['{"command":"npm publish; c"}', "waiting"],
    ]);
  });

  it.each([
    { what: "a denial for the rest of the run", changes: { scope: "run", approved: false } as const },
    { what: "a rule", changes: { scope: "rule" } as const },
  ])("answers one approval only: $what", async ({ changes }) => {
    const { builder, root, first } = aRunWithApprovals();
    builder.answered(root, first, changes);
    record.write(builder.feed);
    expect(statesOf(await waiting())).toEqual([[b, "waiting"]]);
  });

  it("in the name of another run, or in another session's inbox, is ignored", async () => {
    const { builder, root, first } = aRunWithApprovals();
    builder.answered(root, first, { run: "00000000-0000-7000-8000-00000000ffff" });
    const { position } = builder.feed.at(-1) ?? { position: 0 };
    const other = createFeedBuilder({ next: () => "00000000-0000-7000-8000-00000000eeee" });
    other.answered(root, first);
    record.write([...builder.feed, ...other.feed.map((item) => ({ ...item, position: position + item.position }))]);
    expect(await states()).toEqual([
      [a, "waiting"],
      [b, "waiting"],
    ]);
  });
});

describe("an approval without an answer", () => {
  it("is withdrawn when its run settles", async () => {
    const { builder, root, first } = aRunWithApprovals();
    root.received(builder.answered(root, first)).settled({ status: "cancelled" });
    record.write(builder.feed);
    expect(await states()).toEqual([
      [a, "approved"],
      [b, "withdrawn"],
    ]);
    expect(await waiting()).toEqual([]);
  });

  it("is withdrawn when its call continues without it", async () => {
    const { builder, root } = aRunWithApprovals();
    root.finished(0);
    record.write(builder.feed);
    expect(await states()).toEqual([
      [a, "withdrawn"],
      [b, "waiting"],
    ]);
  });

  it("keeps that state when an answer comes too late", async () => {
    const { builder, root, first } = aRunWithApprovals();
    root.settled();
    builder.answered(root, first);
    record.write(builder.feed);
    expect(await record.reader.approval(first.id)).toMatchObject({ state: "withdrawn", by: null, answeredAt: null });
  });
});

describe("the reader", () => {
  /** Three sessions with two approvals each. The first approval of the second session is answered. */
  function writeThree(): RunWithApprovals[] {
    const ids = createCountingIds();
    const runs = [aRunWithApprovals(ids), aRunWithApprovals(ids), aRunWithApprovals(ids)];
    const [, second] = runs;
    if (second) second.builder.answered(second.root, second.first);
    const feed = runs.flatMap(({ builder }) => builder.feed).map((item, i) => ({ ...item, position: i + 1 }));
    record.write(feed);
    return runs;
  }

  it("lists waiting approvals from the oldest, and the newest of all, oldest first", async () => {
    const runs = writeThree();
    const idsOf = (rows: readonly ApprovalRow[]) => rows.map(({ id }) => id);
    const asked = runs.map(({ first }) => first.id).concat(runs.map(({ second }) => second.id));
    const [first, answered, third] = asked;
    const open = asked.filter((id) => id !== answered);
    expect(idsOf(await all())).toEqual(asked);
    expect(idsOf(await waiting())).toEqual(open);
    expect(idsOf(await record.reader.approvals({ waiting: true, limit: 2 }))).toEqual([first, third]);
    expect(idsOf(await record.reader.approvals({ waiting: false, limit: 2 }))).toEqual(asked.slice(-2));
  });

  it("shows a session with its approvals, and counts the waiting ones", async () => {
    const [first, second] = writeThree();
    const detail = await record.reader.session(second?.builder.session ?? "");
    expect(statesOf(detail?.approvals ?? [])).toEqual([
      [a, "approved"],
      [b, "waiting"],
    ]);
    expect(detail?.session.approvalsWaiting).toBe(1);
    expect((await record.reader.session(first?.builder.session ?? ""))?.session.approvalsWaiting).toBe(2);
  });

  it("reports each approval when it is requested, answered and withdrawn, and its session", async () => {
    const { feed } = commandedSession();
    const changes: RecordChange[] = [];
    record.reader.onChange((change) => changes.push(change));
    for (const item of feed) record.write([item]);
    const told = changes.filter(({ approvals }) => approvals.length > 0);
    expect(told.map(({ approvals }) => approvals.map(({ agent, state }) => `${agent} ${state}`).join())).toEqual([
      "coder waiting",
      "coder approved",
      "main waiting",
      "main withdrawn",
    ]);
    expect(told.map(({ sessions }) => sessions.map(({ approvalsWaiting }) => approvalsWaiting))).toEqual([
      [1],
      [0],
      [1],
      [0],
    ]);
  });

  it("reports missed approvals to a client that reconnects", async () => {
    const { builder, root, first } = aRunWithApprovals();
    record.write(builder.feed);
    const seen = record.reader.position();
    builder.answered(root, first);
    record.write(builder.feed);
    const change = await record.reader.changesSince(seen);
    expect(statesOf(change?.approvals ?? [])).toEqual([[a, "approved"]]);
    expect(change).toMatchObject({ runs: [], sessions: [{ session: builder.session, approvalsWaiting: 1 }] });
    expect((await record.reader.changesSince(record.reader.position()))?.approvals).toEqual([]);
  });

  it("makes a client reload when it has missed too many approvals", async () => {
    const { builder, root } = aRunWithApprovals();
    record.write(builder.feed);
    const seen = record.reader.position();
    for (let i = 0; i < 500; i += 1) root.asked(0, "shell", { command: `${i}` });
    record.write(builder.feed);
    expect(await record.reader.changesSince(seen)).toBeNull();
  });
});

it("an approval has the email or event of its call", async () => {
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "main" });
  builder.requested(root);
  root.opened().replied([["gmail_send_email", { to: ["eve@evil.example"] }]]);
  const preview = {
    ...{ kind: "email" as const, from: "me@office.local", to: ["eve@evil.example"], cc: [], bcc: [] },
    ...{ subject: "Hi", body: "Hello", attachments: [], external: ["eve@evil.example"] },
  };
  const { id } = root.asked(0, "gmail_send_email", { to: ["eve@evil.example"] }, { preview });
  record.write(builder.feed);
  expect(await record.reader.approval(id)).toMatchObject({ tool: "gmail_send_email", preview });
  expect((await record.reader.approval(id))?.losses).toBeUndefined();
});
