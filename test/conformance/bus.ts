import { type Bus, type BusMessage, TroupeError } from "@troupe/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** Creates the bus under test. */
export interface BusAdapter {
  /** Two ends of one bus: each receives the other's messages. They may be the same object. */
  create(options: { onListenerError(error: unknown, subject: string): void }): Promise<{ near: Bus; far: Bus }>;
}

/** The contract of the Bus port, tested on an adapter. */
export function describeBus(name: string, adapter: BusAdapter): void {
  describe(name, () => {
    let near: Bus;
    let far: Bus;
    const listenerErrors: unknown[] = [];
    beforeEach(async () => {
      listenerErrors.length = 0;
      ({ near, far } = await adapter.create({ onListenerError: (error) => listenerErrors.push(error) }));
    });
    afterEach(async () => {
      await near.close();
      await far.close();
    });

    it("delivers bytes as they were when they were published", async () => {
      const received = await collect(far, "a.b");
      const bytes = Uint8Array.from([0, 1, 254, 255]);
      near.publish("a.b", bytes);
      bytes.fill(7);
      expect((await received.take(1)).map(({ subject, bytes }) => [subject, [...bytes]])).toEqual([
        ["a.b", [0, 1, 254, 255]],
      ]);
    });

    it("gives every listener a copy", async () => {
      const spoiler = await collect(far, "a.*", ({ bytes }) => bytes.fill(0));
      const reader = await collect(far, "a.b");
      near.publish("a.b", text("same"));
      await spoiler.take(1);
      expect(textOf((await reader.take(1))[0])).toBe("same");
    });

    it("delivers an empty message", async () => {
      const received = await collect(far, "a.b");
      near.publish("a.b", new Uint8Array());
      expect((await received.take(1))[0]?.bytes.byteLength).toBe(0);
    });

    it.each([
      ["a.b.c", "a.b.c", true],
      ["a.b.c", "a.b", false],
      ["a.b", "a.b.c", false],
      ["a.*.c", "a.b.c", true],
      ["a.*.c", "a.b.d", false],
      ["a.*", "a.b.c", false],
      ["*.*", "a.b", true],
      ["*", "a.b", false],
      ["a.>", "a.b.c", true],
      ["a.>", "a.b", true],
      ["a.>", "a", false],
      [">", "a", true],
      ["a.*.>", "a.b", false],
      ["a.*.>", "a.b.c.d", true],
      ["a.b", "A.b", false],
    ])("a listener on %s, a message on %s: received is %s", async (pattern, subject, isReceived) => {
      const received = await collect(far, pattern);
      const last = await collect(far, "end.of.test.now");
      near.publish(subject, text("x"));
      near.publish("end.of.test.now", text("y"));
      await last.take(1);
      expect(received.subjects().filter((one) => one !== "end.of.test.now")).toEqual(isReceived ? [subject] : []);
    });

    it("keeps subjects and requests apart", async () => {
      const [one, two] = [await collect(far, "talk.1"), await collect(far, "talk.2")];
      await answer(far, "echo.*", ({ subject, bytes }) => text(`${subject} ${textOf({ bytes })}`));
      near.publish("talk.1", text("for one"));
      near.publish("talk.2", text("for two"));
      const asked = Array.from({ length: 20 }, (_, i) =>
        near.request(`echo.${i}`, text(`q${i}`), { timeoutMs: 5_000 }),
      );
      expect((await Promise.all(asked)).map((bytes) => textOf({ bytes }))).toEqual(
        Array.from({ length: 20 }, (_, i) => `echo.${i} q${i}`),
      );
      expect([await one.take(1), await two.take(1)].map(([message]) => textOf(message))).toEqual([
        "for one",
        "for two",
      ]);
      expect([one.subjects(), two.subjects()]).toEqual([["talk.1"], ["talk.2"]]);
    });

    it("answers a request with the first reply", async () => {
      await far.subscribe("twice", (message) => {
        message.respond(text("first"));
        message.respond(text("second"));
      });
      expect(textOf({ bytes: await near.request("twice", text("?"), { timeoutMs: 5_000 }) })).toBe("first");
    });

    it("ignores a reply to a message without a reply subject", async () => {
      const received = await collect(far, "plain", (message) => message.respond(text("ignored")));
      near.publish("plain", text("x"));
      await received.take(1);
      expect(listenerErrors).toEqual([]);
    });

    it("refuses a request at once if no listener exists", async () => {
      const error = await failure(() => near.request("nobody.here", text("?"), { timeoutMs: 20_000 }));
      expect(error).toMatchObject({ code: "NO_RESPONDERS", message: expect.stringContaining("nobody.here") });
    }, 5_000);

    it("gives up a request without an answer in time", async () => {
      await far.subscribe("silent", () => {});
      const error = await failure(() => near.request("silent", text("?"), { timeoutMs: 30 }));
      expect(error).toMatchObject({ code: "TIMEOUT", message: expect.stringMatching(/silent.*30 ms/) });
    });

    it("carries a message of the largest size, and refuses one more byte before sending", async () => {
      const received = await collect(far, "size.*");
      near.publish("size.most", new Uint8Array(near.payloadBytesMax));
      const tooLarge = new Uint8Array(near.payloadBytesMax + 1);
      const errors = [
        await failure(() => near.publish("size.over", tooLarge)),
        await failure(() => near.request("size.over", tooLarge, { timeoutMs: 5_000 })),
      ];
      near.publish("size.after", text("still there"));
      expect(errors.map((error) => TroupeError.is(error) && error.code)).toEqual(["TOO_LARGE", "TOO_LARGE"]);
      expect((await received.take(2)).map(({ subject, bytes }) => [subject, bytes.byteLength])).toEqual([
        ["size.most", near.payloadBytesMax],
        ["size.after", 11],
      ]);
    });

    it("refuses a reply that is too large", async () => {
      const received = await collect(far, "ask", (message) => message.respond(new Uint8Array(far.payloadBytesMax + 1)));
      const asked = failure(() => near.request("ask", text("?"), { timeoutMs: 200 }));
      await received.take(1);
      expect(await asked).toMatchObject({ code: "TIMEOUT" });
      expect(listenerErrors).toMatchObject([{ code: "TOO_LARGE" }]);
    });

    it("ends one listener on unsubscribe, and no other", async () => {
      const [unsubscribed, active] = [await collect(far, "a.b"), await collect(far, "a.b")];
      unsubscribed.unsubscribe();
      near.publish("a.b", text("x"));
      await active.take(1);
      expect(unsubscribed.subjects()).toEqual([]);
    });

    it("keeps a subscription whose listener throws, and all others", async () => {
      const thrower = await collect(far, "a.*", ({ subject }) => {
        if (subject === "a.1") throw new Error("listener's bug");
      });
      const other = await collect(far, "a.*");
      near.publish("a.1", text("x"));
      near.publish("a.2", text("y"));
      expect((await thrower.take(2)).map(({ subject }) => subject)).toEqual(["a.1", "a.2"]);
      expect((await other.take(2)).map(({ subject }) => subject)).toEqual(["a.1", "a.2"]);
      expect(listenerErrors).toMatchObject([{ message: "listener's bug" }]);
    });

    it("receives its own messages", async () => {
      const received = await collect(near, "self");
      near.publish("self", text("me"));
      expect(textOf((await received.take(1))[0])).toBe("me");
    });

    it("delivers 1,000 messages of one publisher in order", async () => {
      const received = await collect(far, "count");
      for (let i = 0; i < 1_000; i++) near.publish("count", text(String(i)));
      const numbers = (await received.take(1_000)).map((message) => Number(textOf(message)));
      expect(numbers).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
    });

    it("has sent everything when flush resolves", async () => {
      const received = await collect(far, "flushed");
      near.publish("flushed", text("x"));
      await near.flush();
      expect(await received.take(1)).toHaveLength(1);
    });

    it("rejects pending requests when it is closed, and every later call", async () => {
      await far.subscribe("silent", () => {});
      const waiting = failure(() => near.request("silent", text("?"), { timeoutMs: 20_000 }));
      await near.close();
      const afterwards = [
        await failure(() => near.publish("a", text("x"))),
        await failure(() => near.request("a", text("x"), { timeoutMs: 20_000 })),
        await failure(() => near.subscribe("a", () => {})),
      ];
      const codes = [await waiting, ...afterwards].map((error) => (TroupeError.is(error) ? error.code : error));
      expect(codes).toEqual(["CLOSED", "CLOSED", "CLOSED", "CLOSED"]);
    }, 5_000);

    it("can be closed twice", async () => {
      await near.close();
      await expect(near.close()).resolves.toBeUndefined();
    });
  });
}

interface Collected {
  subjects(): string[];
  /** The first messages, once there are so many. */
  take(count: number): Promise<BusMessage[]>;
  unsubscribe(): void;
}

async function collect(bus: Bus, pattern: string, react?: (message: BusMessage) => void): Promise<Collected> {
  const messages: BusMessage[] = [];
  let check = (): void => {};
  const { unsubscribe } = await bus.subscribe(pattern, (message) => {
    messages.push(message);
    check();
    react?.(message);
  });
  return {
    subjects: () => messages.map(({ subject }) => subject),
    take: (count) =>
      new Promise((resolve) => {
        check = () => messages.length >= count && resolve(messages.slice(0, count));
        check();
      }),
    unsubscribe,
  };
}

async function answer(bus: Bus, pattern: string, reply: (message: BusMessage) => Uint8Array): Promise<void> {
  await bus.subscribe(pattern, (message) => message.respond(reply(message)));
}

/** The thrown or rejected error, or a sentence when there is none. */
async function failure(act: () => unknown): Promise<unknown> {
  try {
    await act();
    return "nothing was thrown";
  } catch (error) {
    return error;
  }
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function textOf(message: Pick<BusMessage, "bytes"> | undefined): string {
  return new TextDecoder().decode(message?.bytes);
}
