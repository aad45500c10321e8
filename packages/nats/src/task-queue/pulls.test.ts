/** What a consumer has now: asked for without waiting, and never taken for the answer to another question. */
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

const inbox = (): string => link.said.at(-1)?.reply ?? "";
const give = (seq: number, reply = `$JS.ACK.tasks.coder@any.1.${seq}.1.1.0`): void =>
  link.deliver({ to: inbox(), subject, reply, text: `task ${seq}` });
const status = (code: number): void => link.deliver({ to: inbox(), subject: inbox(), code });

describe("a pull", () => {
  test("asks for as many as there is room for, and waits for none", () => {
    void pulls.pull("coder@any", 3);
    expect(link.said).toMatchObject([
      { subject: "$JS.API.CONSUMER.MSG.NEXT.tasks.coder@any", word: '{"batch":3,"no_wait":true}' },
    ]);
  });

  test("ends when it has all that it asked for", async () => {
    const pulling = pulls.pull("coder@any", 2);
    give(4);
    give(5);
    expect(await pulling).toMatchObject({ state: "full", deliveries: [{ seq: 4, count: 1, subject }, { seq: 5 }] });
  });

  test.for([
    { what: "no more is there", code: 404, state: "drained" },
    { what: "others wait for all that is there", code: 408, state: "drained" },
    { what: "the consumer has gone", code: 409, state: "missing" },
    { what: "nobody has such a stream", code: 503, state: "missing" },
    { what: "the server understands nothing", code: 400, state: "failed" },
  ])("ends with what it has when $what: $state", async ({ code, state }) => {
    const pulling = pulls.pull("coder@any", 2);
    give(4);
    status(code);
    expect(await pulling).toMatchObject({ state, deliveries: [{ seq: 4 }] });
  });

  test("is given up when nobody answers; what comes then belongs to no other pull", async () => {
    const first = pulls.pull("coder@any", 2);
    const door = inbox();
    clock.advance(timeoutMs);
    expect(await first).toMatchObject({ state: "failed", deliveries: [] });
    const second = pulls.pull("coder@any", 2);
    await settle();
    expect(inbox()).not.toBe(door);
    link.deliver({ to: door, subject, reply: "$JS.ACK.tasks.coder@any.1.4.1.1.0" });
    status(404);
    expect(await second).toMatchObject({ state: "drained", deliveries: [] });
  });

  test("is not made by a process that nobody answers, until it hears the server again", async () => {
    const first = pulls.pull("coder@any", 2);
    const heard = Promise.withResolvers<void>();
    link.onFlush(() => heard.promise);
    clock.advance(timeoutMs);
    await first;
    for (let times = 0; times < 3; times += 1) {
      const deaf = pulls.pull("coder@any", 2);
      await settle();
      clock.advance(timeoutMs);
      expect(await deaf).toEqual({ state: "failed", deliveries: [] });
    }
    expect(link.said).toHaveLength(1);
    heard.resolve();
    const next = pulls.pull("coder@any", 1);
    await settle();
    give(4);
    expect((await next).state).toBe("full");
  });

  test("is made again over a new connection, whatever the one before has left unanswered", async () => {
    link.onFlush(() => new Promise(() => {}));
    for (let times = 0; times < 2; times += 1) {
      const deaf = pulls.pull("coder@any", 1);
      await settle();
      clock.advance(timeoutMs);
      await deaf;
    }
    link.disconnect();
    link.reconnect();
    const next = pulls.pull("coder@any", 1);
    give(4);
    expect((await next).state).toBe("full");
  });

  test("ends with the connection, at once, and is not begun without one", async () => {
    const pulling = pulls.pull("coder@any", 2);
    give(4);
    link.disconnect();
    expect(await pulling).toMatchObject({ state: "failed", deliveries: [{ seq: 4 }] });
    const asked = link.said.length;
    expect(await pulls.pull("coder@any", 2)).toEqual({ state: "failed", deliveries: [] });
    expect(link.said.length).toBe(asked);
  });

  test.for([
    { what: "no reply subject", reply: "" },
    { what: "somebody's inbox", reply: "_INBOX.x.y" },
    { what: "no numbers", reply: "$JS.ACK.tasks.coder@any.one.two.1.1.0" },
    { what: "too little", reply: "$JS.ACK.tasks" },
  ])("passes over what no consumer gave out: with $what to answer to", async ({ reply }) => {
    const pulling = pulls.pull("coder@any", 2);
    give(0, reply);
    status(404);
    expect((await pulling).deliveries).toEqual([]);
  });

  test("reads places in the stream also behind a domain", async () => {
    const pulling = pulls.pull("coder@any", 1);
    give(0, "$JS.ACK.hub.account.tasks.coder@any.3.41.7.1.0");
    expect(await pulling).toMatchObject({ deliveries: [{ count: 3, seq: 41 }] });
  });

  test("of one consumer is not mixed up with another's", async () => {
    const first = pulls.pull("coder@any", 1);
    const door = inbox();
    const second = pulls.pull("tester@any", 1);
    link.deliver({ to: door, subject, reply: "$JS.ACK.tasks.coder@any.1.4.1.1.0" });
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
