/** A person's words to a run: put before its model at the next step, and before an answer is accepted. */
import { describe, expect, test } from "vitest";
import {
  anError,
  aToolCall,
  childSettled,
  commanded,
  delegateTo,
  modelFailed,
  reply,
  timerFired,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive } from "../machine-driver.test-helper.ts";

const steer = (text: string) => commanded({ kind: "run.steered", text });
const fromAda = (text: string) => ({ role: "user", text: `A message from ada: ${text}` });

describe("a message from a person", () => {
  test("while the model works is read at the next step", () => {
    const d = drive();
    d.look();
    expect(d.on(steer("in French"))).toEqual({ state: "execute.think", started: [], stopped: [] });
    d.feed(reply(1, "", [aToolCall("read")]));
    d.feed(toolFinished(1, 0, "x"));
    expect(d.effect("callModel").messages.at(-1)).toEqual(fromAda("in French"));
  });

  test("while tools run is read after their results", () => {
    const d = drive();
    d.feed(reply(1, "", [aToolCall("read")]));
    d.feed(steer("in French"));
    d.feed(toolFinished(1, 0, "x"));
    expect(d.effect("callModel").messages.slice(-2)).toMatchObject([{ role: "tool" }, fromAda("in French")]);
  });

  test("before the answer gives the model another turn", () => {
    const d = drive();
    d.feed(steer("in French"));
    d.look();
    expect(d.on(reply(1, "Hello"))).toEqual({ state: "execute.think", started: ["model/2"], stopped: [] });
    expect(d.effect("callModel").messages.slice(-2)).toEqual([
      { role: "assistant", text: "Hello", calls: [] },
      fromAda("in French"),
    ]);
    d.feed(reply(2, "Bonjour"));
    expect(d.response()).toMatchObject({ status: "completed", details: "Bonjour" });
  });

  test("is read once, in the order of sending", () => {
    const d = drive();
    d.feed(steer("one"));
    d.feed(steer("two"));
    d.feed(reply(1, "Hello"));
    expect(d.effect("callModel").messages.slice(-2)).toEqual([fromAda("one"), fromAda("two")]);
    d.feed(steer("three"));
    d.feed(reply(2, "Hello"));
    expect(d.effect("callModel").messages.slice(-2)).toEqual([
      { role: "assistant", text: "Hello", calls: [] },
      fromAda("three"),
    ]);
    expect(d.on(reply(3, "done")).state).toBe("respond.settling");
  });

  test("while its children work waits for them", () => {
    const d = drive();
    d.feed(reply(1, "", [delegateTo("helper")]));
    d.look();
    expect(d.on(steer("hurry")).started).toEqual([]);
    d.feed(childSettled(1, 0, { error: anError({ recoverable: false }) }));
    expect(d.effect("callModel").messages.at(-1)).toEqual(fromAda("hurry"));
  });

  test("while the provider is rate-limited is read at the repeated call", () => {
    const d = drive();
    d.feed(modelFailed(1, { type: "rate_limit" }));
    d.feed(steer("hurry"));
    d.feed(timerFired("rate/1/1"));
    expect(d.effect("callModel")).toMatchObject({ step: 1 });
    expect(d.effect("callModel").messages.at(-1)).toEqual(fromAda("hurry"));
  });

  test("in the last turn comes too late: the answer stands", () => {
    const d = drive({ limits: { maxIterations: 1 } });
    d.feed(steer("hurry"));
    d.feed(reply(1, "done"));
    expect(d.response()).toMatchObject({ status: "completed", details: "done" });
  });

  test("after the answer is ignored", () => {
    const d = drive();
    d.feed(reply(1, "done"));
    const before = d.response();
    expect(d.on(steer("more"))).toEqual({ state: "respond.settling", started: [], stopped: [] });
    expect(d.response()).toEqual(before);
  });
});
