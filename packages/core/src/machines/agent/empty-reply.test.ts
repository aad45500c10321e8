/** A model that says nothing: once it is asked to go on, twice in a row it has failed. */
import { describe, expect, test } from "vitest";
import { aToolCall, childSettled, delegateTo, reply, toolFinished } from "../fixtures.test-helper.ts";
import { drive } from "../machine-driver.test-helper.ts";
import { emptyReplyNotice } from "./setup/model.ts";

const read = aToolCall("read");
const streaming = aToolCall("delegate", {
  tasks: [delegateTo("helper").args, delegateTo("writer").args],
  mode: "parallel_streaming",
});

test.each(["", " \n "])("the first empty reply (%j) gets a request to continue", (text) => {
  const d = drive();
  d.look();
  expect(d.on(reply(1, text))).toEqual({ state: "execute.think", started: ["model/2"], stopped: [] });
  expect(d.effect("callModel").messages.at(-1)).toEqual({ role: "user", text: emptyReplyNotice });
  d.feed(reply(2, "42"));
  expect(d.response()).toMatchObject({ status: "completed", details: "42", metrics: { iterations: 2 } });
});

test("the second empty reply in a row fails the run", () => {
  const d = drive();
  d.feed(reply(1, ""));
  expect(d.on(reply(2, "")).state).toBe("respond.settling");
  expect(d.response()).toMatchObject({
    status: "failed",
    error: { type: "model", message: "the model answered nothing, twice in a row" },
  });
});

test("a reply with calls is not empty, and resets the count", () => {
  const d = drive();
  d.feed(reply(1, ""));
  d.feed(reply(2, "", [read]));
  d.feed(toolFinished(2, 0, "x"));
  expect(d.on(reply(3, "")).state).toBe("execute.think");
  expect(d.on(reply(4, "")).state).toBe("respond.settling");
});

describe("while tasks run", () => {
  function listening() {
    const d = drive();
    d.feed(reply(1, "", [streaming]));
    d.feed(childSettled(1, 0, {}, 1, 0));
    d.look();
    return d;
  }

  test("an empty reply waits for their results", () => {
    const d = listening();
    expect(d.on(reply(2, ""))).toEqual({ state: "execute.listening", started: [], stopped: [] });
    expect(d.on(childSettled(1, 0, {}, 1, 1))).toMatchObject({ state: "execute.think", started: ["model/3"] });
  });

  test("the model is asked to continue after their last result", () => {
    const d = listening();
    d.feed(reply(2, "", [aToolCall("delegate", { cancel: ["1.0.1"] })]));
    expect(d.on(reply(3, "")).state).toBe("execute.listening");
    expect(d.on(childSettled(1, 0, {}, 1, 1)).state).toBe("execute.think");
    expect(d.effect("callModel").messages.at(-1)).toEqual({ role: "user", text: emptyReplyNotice });
    expect(d.on(reply(4, "")).state).toBe("respond.settling");
  });
});
