/** Pulls never wait for new tasks, and never mistake a delivery for that of another pull. */
import { createSimulatedClock } from "@troupe/core/memory";
import { beforeEach, describe, expect, test } from "vitest";
import { createTestLink, settle, type TestLink } from "../connection/link.fixture.ts";
import { createPulls, type Pulls } from "./pulls.ts";

const timeoutMs = 500;
const subject = "troupe.task.any.coder.r1";

let clock: ReturnType<typeof createSimulatedClock>;
let link: TestLink;
let pulls: Pulls;

beforeEach(() => {
  clock = createSimulatedClock(1_000);
  link = createTestLink();
  pulls = createPulls({ link, stream: "tasks", clock, timeoutMs });
});

const inbox = (): string => link.sent.at(-1)?.reply ?? "";
const give = (seq: number, reply = `$JS.ACK.tasks.coder@any.1.${seq}.1.1.0`): void =>
  link.deliver({ to: inbox(), subject, reply, text: `task ${seq}` });
const status = (code: number): void => link.deliver({ to: inbox(), subject: inbox(), code });

describe("a pull", () => {
  test("requests a batch, and does not wait for new tasks", () => {
    void pulls.pull("coder@any", 3);
    expect(link.sent).toMatchObject([
      { subject: "$JS.API.CONSUMER.MSG.NEXT.tasks.coder@any", payload: '{"batch":3,"no_wait":true}' },
    ]);
  });

  test("ends when its batch is complete", async () => {
    const pulling = pulls.pull("coder@any", 2);
    give(4);
    give(5);
    expect(await pulling).toMatchObject({ state: "full", deliveries: [{ seq: 4, count: 1, subject }, { seq: 5 }] });
  });

  test.for([
    { what: "there are no more tasks", code: 404, state: "drained" },
    { what: "other pulls wait for all tasks", code: 408, state: "drained" },
    { what: "the consumer was deleted", code: 409, state: "missing" },
    { what: "no server has the stream", code: 503, state: "missing" },
    { what: "the server rejects the request", code: 400, state: "failed" },
  ])("returns its deliveries when $what: $state", async ({ code, state }) => {
    const pulling = pulls.pull("coder@any", 2);
    give(4);
    status(code);
    expect(await pulling).toMatchObject({ state, deliveries: [{ seq: 4 }] });
  });

  test("is given up without an answer; late deliveries belong to no other pull", async () => {
    const first = pulls.pull("coder@any", 2);
    const firstInbox = inbox();
    clock.advance(timeoutMs);
    expect(await first).toMatchObject({ state: "failed", deliveries: [] });
    const second = pulls.pull("coder@any", 2);
    await settle();
    expect(inbox()).not.toBe(firstInbox);
    link.deliver({ to: firstInbox, subject, reply: "$JS.ACK.tasks.coder@any.1.4.1.1.0" });
    status(404);
    expect(await second).toMatchObject({ state: "drained", deliveries: [] });
  });

  test("is not sent after one without an answer, until the server answers a flush", async () => {
    const first = pulls.pull("coder@any", 2);
    const flushed = Promise.withResolvers<void>();
    link.onFlush(() => flushed.promise);
    clock.advance(timeoutMs);
    await first;
    for (let times = 0; times < 3; times += 1) {
      const failing = pulls.pull("coder@any", 2);
      await settle();
      clock.advance(timeoutMs);
      expect(await failing).toEqual({ state: "failed", deliveries: [] });
    }
    expect(link.sent).toHaveLength(1);
    flushed.resolve();
    const next = pulls.pull("coder@any", 1);
    await settle();
    give(4);
    expect((await next).state).toBe("full");
  });

  test("is sent again over a new connection, even if a flush of the old one never ended", async () => {
    link.onFlush(() => new Promise(() => {}));
    for (let times = 0; times < 2; times += 1) {
      const failing = pulls.pull("coder@any", 1);
      await settle();
      clock.advance(timeoutMs);
      await failing;
    }
    link.disconnect();
    link.reconnect();
    const next = pulls.pull("coder@any", 1);
    give(4);
    expect((await next).state).toBe("full");
  });

  test("ends at once with the connection, and is not sent without one", async () => {
    const pulling = pulls.pull("coder@any", 2);
    give(4);
    link.disconnect();
    expect(await pulling).toMatchObject({ state: "failed", deliveries: [{ seq: 4 }] });
    const asked = link.sent.length;
    expect(await pulls.pull("coder@any", 2)).toEqual({ state: "failed", deliveries: [] });
    expect(link.sent.length).toBe(asked);
  });

  test.for([
    { what: "no reply subject", reply: "" },
    { what: "another inbox", reply: "_INBOX.x.y" },
    { what: "no numbers", reply: "$JS.ACK.tasks.coder@any.one.two.1.1.0" },
    { what: "too little", reply: "$JS.ACK.tasks" },
  ])("ignores messages that no consumer delivered: with $what in the reply subject", async ({ reply }) => {
    const pulling = pulls.pull("coder@any", 2);
    give(0, reply);
    status(404);
    expect((await pulling).deliveries).toEqual([]);
  });

  test("reads sequences behind a domain, too", async () => {
    const pulling = pulls.pull("coder@any", 1);
    give(0, "$JS.ACK.hub.account.tasks.coder@any.3.41.7.1.0");
    expect(await pulling).toMatchObject({ deliveries: [{ count: 3, seq: 41 }] });
  });

  test("of one consumer ignores deliveries of another", async () => {
    const first = pulls.pull("coder@any", 1);
    const firstInbox = inbox();
    const second = pulls.pull("tester@any", 1);
    link.deliver({ to: firstInbox, subject, reply: "$JS.ACK.tasks.coder@any.1.4.1.1.0" });
    status(404);
    expect([await first, await second]).toMatchObject([{ state: "full" }, { state: "drained", deliveries: [] }]);
  });

  test("keeps one subscription for each consumer, and none once all is closed", async () => {
    for (let i = 0; i < 3; i += 1) {
      const pulling = pulls.pull("coder@any", 1);
      status(404);
      await pulling;
    }
    expect(link.subscriptions()).toHaveLength(1);
    const open = pulls.pull("coder@any", 1);
    pulls.close();
    await settle();
    expect([(await open).state, link.subscriptions()]).toEqual(["failed", []]);
  });
});
