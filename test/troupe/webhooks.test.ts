/** Webhooks of a record: which events are sent, how they are signed, repeated and kept. */
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { type ApprovalRow, defaultPolicy, type SessionRow } from "@troupe/core";
import { type RecordChange, sampleApproval, sampleSession } from "@troupe/core/internal";
import { createSimulatedClock } from "@troupe/core/memory";
import { systemIds } from "@troupe/core/system";
import { Webhook } from "standardwebhooks";
import { type RunningWebhooks, startWebhooks, type WebhookOptions } from "troupe/internal";
import { describe, it, type TestContext } from "vitest";
import { tempFolder } from "../harness/temp-folder.ts";
import { startWebhookReceiver } from "../harness/webhook-receiver.ts";

const startMs = Date.UTC(2026, 10, 20);
const id = (n: number): string => `01990000-0000-7000-8000-${String(n).padStart(12, "0")}`;

describe("webhooks", () => {
  it("are signed so that a library of Standard Webhooks accepts them", async (test) => {
    const { expect } = test;
    const { webhooks, receiver, commit } = await start(test);
    const { secret, webhook } = await webhooks.add({ url: receiver.url, events: ["session.settled"] });
    commit(settled(1));
    await expect.poll(() => receiver.received.length).toBe(1);
    const [{ headers, body, event } = never()] = receiver.received;
    const given = Object.fromEntries(
      ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, String(headers[name])]),
    );
    expect(Number(given["webhook-timestamp"])).toBe(startMs / 1_000);
    // The library compares the time with the wall clock, which is not that of this test.
    const now = { "webhook-timestamp": String(Math.floor(Date.now() / 1_000)) };
    const signer = new Webhook(secret);
    expect(signer.sign(given["webhook-id"] ?? "", new Date(startMs), body)).toBe(given["webhook-signature"]);
    expect(() => signer.verify(body, { ...given, ...now })).toThrow();
    expect(headers["content-type"]).toBe("application/json");
    expect(event).toMatchObject({
      ...{ type: "session.settled", timestamp: settled(1).completedAt },
      data: { session: { session: id(1), status: "completed" } },
    });
    await expect.poll(() => webhooks.list()).toEqual([{ ...webhook, delivered: 1 }]);
  });

  it("are sent for the events that they name, and only for later ones", async (test) => {
    const { expect } = test;
    const { webhooks, receiver, commit, clock } = await start(test);
    commit(settled(1));
    clock.advance(1_000);
    await webhooks.add({ url: receiver.url, events: ["approval.requested"] });
    commit(settled(2, startMs + 2_000));
    commit(asked(3, startMs + 2_000));
    commit({ ...asked(3, startMs + 2_000), state: "approved" });
    commit(asked(4, startMs - 1));
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(receiver.received[0]?.event).toMatchObject({
      ...{ type: "approval.requested", data: { approval: { id: id(3), args: { command: "make" } } } },
    });
  });

  it("have no store before the first one is added", async (test) => {
    const { expect } = test;
    const { webhooks, receiver, options } = await start(test);
    expect(await webhooks.list()).toEqual([]);
    for (const request of [webhooks.remove, webhooks.test, webhooks.resend]) {
      await expect(request("none")).rejects.toMatchObject({ code: "UNKNOWN_WEBHOOK", fix: "troupe webhooks ls" });
    }
    expect(existsSync(options.file)).toBe(false);
    const { webhook } = await webhooks.add({ url: receiver.url, events: ["session.settled"] });
    expect(existsSync(options.file)).toBe(true);
    expect(await webhooks.list()).toEqual([webhook]);
  });

  it("are repeated with the same id after a failure, and wait longer each time", async (test) => {
    const { expect } = test;
    const { webhooks, receiver, commit, clock, logged } = await start(test);
    await webhooks.add({ url: receiver.url, events: ["session.settled"] });
    receiver.answerWith(500);
    commit(settled(1));
    for (const [tries, delayMs] of [5_000, 30_000, 120_000].entries()) {
      await expect.poll(() => logged.length).toBe(tries + 1);
      expect((await webhooks.list())[0]?.lastError).toBe("the receiver answered 500");
      await idle();
      clock.advance(delayMs - 1);
      await idle();
      expect(receiver.received).toHaveLength(tries + 1);
      if (tries === 2) receiver.answerWith(204);
      clock.advance(1);
    }
    await expect.poll(async () => (await webhooks.list())[0]?.delivered).toBe(1);
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(1);
  });

  it("are given up after ten attempts, and at once by a receiver that is gone", async (test) => {
    const { expect } = test;
    const { webhooks, receiver, commit, clock, logged } = await start(test);
    await webhooks.add({ url: receiver.url, events: ["session.settled"] });
    receiver.answerWith(503);
    commit(settled(1));
    const minutes = [1 / 12, 0.5, 2, 10, 30, 60, 120, 360, 720];
    for (const [tries, delay] of [...minutes, 0].entries()) {
      await expect.poll(() => logged.length).toBe(tries + 1);
      await idle();
      expect(receiver.received).toHaveLength(tries + 1);
      clock.advance(delay * 60_000);
    }
    await expect.poll(() => webhooks.list()).toMatchObject([{ dead: 1, open: 0 }]);
    receiver.answerWith(410);
    commit(settled(2, clock.now()));
    await expect.poll(() => webhooks.list()).toMatchObject([{ dead: 2, lastError: "the receiver answered 410" }]);
    expect(receiver.received).toHaveLength(11);
  });

  it("that were given up are sent again on request, with the same ids, also after a restart", async (test) => {
    const { expect } = test;
    const first = await start(test);
    const { receiver, commit, clock } = first;
    const { webhook } = await first.webhooks.add({ url: receiver.url, events: ["session.settled"] });
    receiver.answerWith(410);
    for (const n of [1, 2, 3]) commit(settled(n));
    await expect.poll(() => first.webhooks.list()).toMatchObject([{ dead: 3, open: 0 }]);
    const bodies = receiver.received.map(({ body }) => body);
    await first.webhooks.stop();
    const again = await startWebhooks({ ...first.options, queueMax: 2 });
    test.onTestFinished(() => again.stop());
    receiver.answerWith(500);
    // The queue has room for two of them.
    expect(await again.resend(webhook.id)).toEqual({ id: webhook.id, resent: 2, left: 1 });
    await expect.poll(() => receiver.received.length).toBe(5);
    receiver.answerWith(204);
    clock.advance(5_000);
    await expect.poll(() => again.list()).toMatchObject([{ delivered: 2, dead: 1, open: 0 }]);
    expect(await again.resend(webhook.id)).toEqual({ id: webhook.id, resent: 1, left: 0 });
    await expect.poll(() => again.list()).toMatchObject([{ delivered: 3, dead: 0, open: 0 }]);
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(3);
    expect(new Set(receiver.received.map(({ body }) => body))).toEqual(new Set(bodies));
    await expect(again.resend(id(99))).rejects.toMatchObject({ code: "UNKNOWN_WEBHOOK" });
  });

  it("that were given up 30 days ago have no content any more", async (test) => {
    const { expect } = test;
    const first = await start(test);
    const { webhook } = await first.webhooks.add({ url: first.receiver.url, events: ["session.settled"] });
    first.receiver.answerWith(410);
    first.commit(settled(1));
    await expect.poll(() => first.webhooks.list()).toMatchObject([{ dead: 1 }]);
    await first.webhooks.stop();
    first.clock.advance(31 * 86_400_000);
    const again = await startWebhooks(first.options);
    test.onTestFinished(() => again.stop());
    expect(await again.resend(webhook.id)).toEqual({ id: webhook.id, resent: 0, left: 1 });
  });

  it("follow no redirect, and reach no private address but this machine's own", async (test) => {
    const { expect } = test;
    const { webhooks, receiver } = await start(test);
    receiver.answerWith(302);
    const add = async (url: string) => (await webhooks.add({ url, events: ["session.settled"] })).webhook.id;
    expect(await webhooks.test(await add(receiver.url))).toMatchObject({
      ...{ delivered: false, error: expect.stringContaining("no redirect is followed") },
    });
    for (const host of ["10.0.0.1", "169.254.169.254", "[fd00::1]", "0x7f.1:1"]) {
      const outcome = await webhooks.test(await add(`http://${host}/hook`));
      expect(outcome).toMatchObject({ delivered: false, httpStatus: null });
    }
    expect(await webhooks.test(await add("http://192.168.1.1/hook"))).toMatchObject({
      error: expect.stringContaining("not a public address"),
    });
  });

  it("wait in the record while the queue is full, and lose nothing", async (test) => {
    const { expect } = test;
    const { webhooks, receiver, commit, clock, logged } = await start(test, { queueMax: 2 });
    await webhooks.add({ url: receiver.url, events: ["session.settled"] });
    receiver.answerWith(500);
    for (let n = 1; n <= 7; n += 1) commit(settled(n));
    expect((await webhooks.list())[0]?.open).toBe(2);
    await expect.poll(() => logged.length).toBe(2);
    await idle();
    receiver.answerWith(204);
    clock.advance(5_000);
    await expect.poll(async () => (await webhooks.list())[0]?.delivered).toBe(7);
    const sent = receiver.received.map(({ event }) => event.data.session?.session);
    expect([...new Set(sent)].sort()).toEqual([1, 2, 3, 4, 5, 6, 7].map(id));
  });

  it("are sent after a restart, with events that came while nothing ran", async (test) => {
    const { expect } = test;
    const first = await start(test);
    const { receiver, commit } = first;
    await first.webhooks.add({ url: receiver.url, events: ["session.settled"] });
    receiver.answerWith(500);
    commit(settled(1));
    await expect.poll(() => receiver.received.length).toBe(1);
    await first.webhooks.stop();
    commit(settled(2));
    receiver.answerWith(204);
    const again = await startWebhooks(first.options);
    test.onTestFinished(() => again.stop());
    await expect.poll(() => again.list()).toMatchObject([{ delivered: 2, open: 0 }]);
    const ids = receiver.received.map((one) => one.id);
    expect([ids.length, new Set(ids).size]).toEqual([3, 2]);
  });

  it("of one slow receiver hold up no other one", async (test) => {
    const { expect } = test;
    const { webhooks, receiver, commit } = await start(test);
    const slow = await startWebhookReceiver(test);
    slow.answerWith(null);
    await webhooks.add({ url: slow.url, events: ["session.settled"] });
    await webhooks.add({ url: receiver.url, events: ["session.settled"] });
    for (let n = 1; n <= 5; n += 1) commit(settled(n));
    await expect.poll(() => receiver.received.length).toBe(5);
    expect(slow.received).toHaveLength(1);
  });

  it("keep the secrets of the configuration in variables, and others in a file of the user alone", async (test) => {
    const { expect } = test;
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const receiver = await startWebhookReceiver(test);
    const configured = [{ url: receiver.url, events: ["session.settled"] as const, secretVariable: "HOOK_SECRET" }];
    const { webhooks, commit, options, logged } = await start(test, { configured, env: { HOOK_SECRET: secret } });
    commit(settled(1));
    await expect.poll(() => receiver.received.length).toBe(1);
    const added = await webhooks.add({ url: "http://127.0.0.1:1/", events: ["session.settled"] });
    const hook = (await webhooks.list()).find(({ origin }) => origin === "config");
    await expect(webhooks.remove(hook?.id ?? "")).rejects.toMatchObject({ code: "CONFLICT" });
    expect(JSON.stringify([logged, await webhooks.list()])).not.toContain("whsec_");
    expect(statSync(options.file).mode & 0o777).toBe(0o600);
    await webhooks.stop();
    const stored = readFileSync(options.file, "latin1");
    expect([stored.includes(secret), stored.includes(added.secret)]).toEqual([false, true]);
  });

  it("fail without the variable of their secret, and say so", async (test) => {
    const { expect } = test;
    const receiver = await startWebhookReceiver(test);
    const configured = [{ url: receiver.url, events: ["session.settled"] as const, secretVariable: "HOOK_SECRET" }];
    const { webhooks, commit } = await start(test, { configured });
    commit(settled(1));
    await expect
      .poll(() => webhooks.list())
      .toMatchObject([{ open: 1, lastError: "the variable with its secret is not set" }]);
    expect(receiver.received).toEqual([]);
  });

  it("refuse a second webhook for an address, and an unknown id", async (test) => {
    const { expect } = test;
    const { webhooks, receiver } = await start(test);
    await webhooks.add({ url: receiver.url, events: ["session.settled"] });
    await expect(webhooks.add({ url: receiver.url, events: ["session.settled"] })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await expect(webhooks.test(id(9))).rejects.toMatchObject({ code: "UNKNOWN_WEBHOOK", fix: "troupe webhooks ls" });
  });
});

type Row = SessionRow | ApprovalRow;

/** Webhooks over a record that the test writes. */
async function start(test: TestContext, more: Partial<WebhookOptions> = {}) {
  const receiver = await startWebhookReceiver(test);
  const clock = createSimulatedClock(startMs);
  const changes: RecordChange[] = [];
  const listeners = new Set<(change: RecordChange) => void>();
  const rowsAfter = (position: number): Row[] =>
    changes
      .filter((change) => change.position > position)
      .flatMap((change) => [...change.sessions, ...change.approvals]);
  const isApproval = (row: Row): row is ApprovalRow => "id" in row;
  const sessionsIn = (rows: Row[]): SessionRow[] => rows.filter((row): row is SessionRow => !isApproval(row));
  const record: WebhookOptions["record"] = {
    position: () => changes.length,
    changesSince: async (after) => {
      const rows = rowsAfter(after);
      return { position: changes.length, sessions: sessionsIn(rows), runs: [], approvals: rows.filter(isApproval) };
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    sessions: async () => sessionsIn(rowsAfter(0)),
    approvals: async () => rowsAfter(0).filter(isApproval),
  };
  const logged: unknown[] = [];
  const log = (...line: unknown[]): void => void logged.push(line);
  const options: WebhookOptions = {
    ...{ file: path.join(await tempFolder("webhooks", test), "webhooks.db"), record, clock, configured: [], env: {} },
    ...{ newId: () => systemIds().next(), policy: defaultPolicy.web },
    logger: { debug: log, info: log, warn: log, error: log, child: () => options.logger } as never,
    ...more,
  };
  const webhooks: RunningWebhooks = await startWebhooks(options);
  test.onTestFinished(() => webhooks.stop());
  const commit = (row: Row): void => {
    const [sessions, approvals] = isApproval(row) ? [[], [row]] : [[row], []];
    const change: RecordChange = { position: changes.length + 1, sessions, runs: [], approvals };
    changes.push(change);
    for (const listener of listeners) listener(change);
  };
  return { webhooks, receiver, clock, commit, options, logged };
}

function settled(n: number, atMs = startMs): SessionRow {
  const completedAt = new Date(atMs).toISOString();
  return sampleSession({ session: id(n), rootRun: id(n), status: "completed", completedAt });
}

function asked(n: number, atMs: number): ApprovalRow {
  const requestedAt = new Date(atMs).toISOString();
  return sampleApproval({ id: id(n), session: id(n), run: id(n), args: { command: "make" }, requestedAt });
}

/** Lets the attempt that is under way write its result. */
function idle(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

function never(): never {
  throw new Error("nothing was received");
}
