/** Behaviour of this bus alone, which the conformance suite does not cover. */
import { afterEach, expect, test, vi } from "vitest";
import { createMemoryBus } from "./bus.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("a subscriber gets a copy of a sender's Buffer", async () => {
  const bus = createMemoryBus();
  const received: Uint8Array[] = [];
  await bus.subscribe("a", ({ bytes }) => received.push(bytes));
  const bytes = Buffer.from("before");
  bus.publish("a", bytes);
  bytes.fill(0);
  await bus.flush();
  expect(new TextDecoder().decode(received[0])).toBe("before");
  await bus.close();
});

test("a requester gets a copy of a reply", async () => {
  const bus = createMemoryBus();
  const reply = Buffer.from("before");
  await bus.subscribe("a", (message) => {
    message.respond(reply);
    reply.fill(0);
  });
  const answer = await bus.request("a", new Uint8Array(), { timeoutMs: 1_000 });
  expect(new TextDecoder().decode(answer)).toBe("before");
  await bus.close();
});

test("closing leaves no timer that keeps the process alive", async () => {
  vi.useFakeTimers();
  const bus = createMemoryBus();
  await bus.subscribe("a", () => {});
  const request = bus.request("a", new Uint8Array(), { timeoutMs: 60_000 });
  const failure = expect(request).rejects.toMatchObject({ code: "CLOSED" });
  expect(vi.getTimerCount()).toBe(1);
  await bus.close();
  await failure;
  expect(vi.getTimerCount()).toBe(0);
});

test("an error of a listener goes to onListenerError", async () => {
  const errors: [unknown, string][] = [];
  const bus = createMemoryBus({ onListenerError: (error, subject) => errors.push([error, subject]) });
  const broken = new Error("broken");
  await bus.subscribe("a.*", () => {
    throw broken;
  });
  bus.publish("a.b", new Uint8Array());
  await bus.flush();
  expect(errors).toEqual([[broken, "a.b"]]);
  await bus.close();
});
