/** A streaming batch: the first result at once, each later one by itself, the answer when all have ended. */
import { describe, expect, test } from "vitest";
import {
  aBatch,
  anError,
  aToolCall,
  childSettled,
  commanded,
  reply,
  type SpecChanges,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";
import { lastTurnNotice } from "./turn.ts";

const three = [{ name: "a" }, { name: "b" }, { name: "c" }];
const settled = (item: number, changes: Parameters<typeof childSettled>[2] = {}) =>
  childSettled(1, 0, changes, 1, item);
const cancelling = (...handles: string[]) => aToolCall("delegate", { cancel: handles });

function streaming(changes: SpecChanges = {}, tasks = three): MachineDriver {
  const d = drive(changes);
  d.feed(reply(1, "", [aBatch(tasks, { mode: "parallel_streaming" })]));
  d.look();
  return d;
}

/** The first result is in, and the model thinks about it. */
function withFirst(changes: SpecChanges = {}): MachineDriver {
  const d = streaming(changes);
  d.feed(settled(1, { summary: "b is in" }));
  d.look();
  return d;
}

function lastMessage(d: MachineDriver) {
  return d.effect("callModel").messages.at(-1);
}

function results(d: MachineDriver): string[] {
  return d.effect("callModel").messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
}

describe("the first result", () => {
  test("settles the call, with the handles of the running tasks", () => {
    const d = streaming();
    expect(d.on(settled(1, { summary: "b is in" }))).toMatchObject({ state: "execute.think", started: ["model/2"] });
    expect(JSON.parse(results(d)[0] ?? "")).toMatchObject({
      first: { name: "b", summary: "b is in" },
      running: [
        { handle: "1.0.0", name: "a", agent: "helper" },
        { handle: "1.0.2", name: "c", agent: "helper" },
      ],
    });
  });

  test("may be a failure, which then is the result of the call", () => {
    const d = streaming();
    d.feed(settled(2, { error: anError({ recoverable: false }) }));
    expect(lastMessage(d)).toMatchObject({ role: "tool", isError: true });
  });

  test("of a batch of one is the result of the batch", () => {
    const d = streaming({}, [{ name: "a" }]);
    d.feed(settled(0));
    expect(JSON.parse(results(d)[0] ?? "")).toMatchObject({ outcome: "completed", results: [{ name: "a" }] });
    expect(d.context().batches).toEqual({});
  });

  test("waits for the other calls of its turn", () => {
    const d = drive();
    d.feed(reply(1, "", [aBatch(three, { mode: "parallel_streaming" }), aToolCall("read")]));
    expect(d.on(settled(0)).state).toBe("execute.act.working");
    expect(d.on(toolFinished(1, 1, "x")).state).toBe("execute.think");
  });
});

describe("a later result", () => {
  test("reaches the model at its next turn, as a message", () => {
    const d = withFirst();
    d.feed(settled(0, { summary: "a is in" }));
    expect(d.on(reply(2, "", [aToolCall("read")])).started).toEqual(["tool/2/0"]);
    d.feed(toolFinished(2, 0, "x"));
    expect(lastMessage(d)?.role).toBe("user");
    expect(lastMessage(d)?.text).toContain("The task a (1.0.0) has ended. Still running: 1.0.2.\n");
    expect(lastMessage(d)?.text).toContain("a is in");
  });

  test("starts a turn if the model is idle", () => {
    const d = withFirst();
    expect(d.on(reply(2, "I wait for the others"))).toEqual({ state: "execute.listening", started: [], stopped: [] });
    expect(d.on(settled(0))).toMatchObject({ state: "execute.think", started: ["model/3"] });
    d.feed(reply(3, "one more"));
    d.feed(settled(2));
    expect(lastMessage(d)?.text).toContain("None is left.");
  });

  test("is a message of its own, also with several at once", () => {
    const d = withFirst();
    d.feed(settled(0));
    d.feed(settled(2));
    expect(d.on(reply(2, "I am done")).started).toEqual(["model/3"]);
    const added = d.effect("callModel").messages.slice(-2);
    expect(added.map(({ role, text }) => [role, text.split("\n")[0]])).toEqual([
      ["user", "The task a (1.0.0) has ended. Still running: 1.0.2."],
      ["user", "The task c (1.0.2) has ended. None is left."],
    ]);
  });
});

describe("the answer", () => {
  test("is final only after all tasks have ended and the model has their results", () => {
    const d = withFirst();
    d.feed(reply(2, "early"));
    d.feed(settled(0));
    d.feed(reply(3, "still early"));
    expect(d.state()).toBe("execute.listening");
    d.feed(settled(2));
    expect(d.on(reply(4, "all of it")).state).toBe("respond.settling");
    expect(d.response()).toMatchObject({ status: "completed", details: "all of it", metrics: { iterations: 4 } });
  });

  test("waits for the model to read a person's message first", () => {
    const d = withFirst();
    d.feed(reply(2, "I wait"));
    expect(d.on(commanded({ kind: "run.steered", text: "be brief" })).started).toEqual(["model/3"]);
    expect(lastMessage(d)).toEqual({ role: "user", text: "A message from ada: be brief" });
  });
});

describe("the last turn", () => {
  test("waits for the last result", () => {
    const d = withFirst({ limits: { maxIterations: 2 } });
    expect(d.state()).toBe("execute.listening");
    expect(d.on(settled(0)).state).toBe("execute.listening");
    expect(d.on(settled(2))).toMatchObject({ state: "execute.think", started: ["model/2"] });
    const texts = d
      .effect("callModel")
      .messages.slice(-3)
      .map(({ text }) => text.split("\n")[0]);
    expect(texts).toEqual([
      "The task a (1.0.0) has ended. Still running: 1.0.2.",
      "The task c (1.0.2) has ended. None is left.",
      lastTurnNotice,
    ]);
    d.feed(reply(2, "all of it"));
    expect(d.response()).toMatchObject({ status: "completed", details: "all of it" });
  });

  test("also comes after an early answer of the model", () => {
    const d = withFirst({ limits: { maxIterations: 3 } });
    d.feed(reply(2, "early"));
    d.feed(settled(0));
    expect(d.state()).toBe("execute.listening");
    d.feed(settled(2));
    expect(d.effect("callModel").lastTurn).toBe(true);
  });
});

describe("a cancel call", () => {
  test("stops tasks by their handles: running tasks get a command, and the model gets no more of their results", () => {
    const d = withFirst();
    expect(d.on(reply(2, "enough", [cancelling("1.0.0")])).started).toEqual(["cancel-child/1/0/0/1", "model/3"].sort());
    expect(results(d).at(-1)).toBe('{"cancelled":["1.0.0"]}');
    d.feed(settled(0, { status: "cancelled", error: anError({ type: "cancelled" }) }));
    d.feed(reply(3, "I wait"));
    d.feed(settled(2));
    expect(d.effect("callModel").messages.filter(({ text }) => text.includes("1.0.0) has ended"))).toEqual([]);
  });

  test("does not change an answer that was given while they stop", () => {
    const d = withFirst();
    d.feed(reply(2, "enough", [cancelling("1.0.0", "1.0.2")]));
    expect(d.on(reply(3, "the answer")).state).toBe("execute.listening");
    d.feed(settled(0));
    expect(d.on(settled(2)).state).toBe("respond.settling");
    expect(d.response()).toMatchObject({ status: "completed", details: "the answer", metrics: { iterations: 3 } });
  });

  test("drops a queued task, which frees no slot of another", () => {
    const d = streaming({ limits: { maxConcurrent: 1 } });
    d.feed(settled(0));
    expect(d.context().readyTasks).toMatchObject([{ item: 2 }]);
    d.feed(reply(2, "enough", [cancelling("1.0.2")]));
    expect(d.context().readyTasks).toEqual([]);
    expect(d.settleDropped()).toEqual(["child/1/0/2/1"]);
    d.feed(settled(1));
    expect(d.context()).toMatchObject({ children: {}, batches: {}, usage: { charged: { spawns: 2 } } });
  });

  test.each([
    ["a finished task", "1.0.1", "running are: 1.0.0, 1.0.2"],
    ["an unknown task", "1.0.7", "running are: 1.0.0, 1.0.2"],
    ["nonsense", "x", "running are: 1.0.0, 1.0.2"],
  ])("of %s is refused, with the valid handles", (_, handle, known) => {
    const d = withFirst();
    d.feed(reply(2, "", [cancelling("1.0.0", handle)]));
    expect(JSON.parse(results(d).at(-1) ?? "").error).toMatchObject({
      type: "params",
      message: expect.stringContaining(`${handle} is not a handle of a running task; ${known}`),
    });
    expect(d.pending().map(({ kind }) => kind)).not.toContain("cancelChild");
  });

  test("reports that no task runs", () => {
    const d = drive();
    d.feed(reply(1, "", [cancelling("1.0.0")]));
    expect(results(d)[0]).toContain("none is running");
  });
});

describe("a repeated call", () => {
  test("is not a loop if a task succeeded in between", () => {
    const d = withFirst({ tools: [] });
    const read = aToolCall("read");
    for (const [step, item] of [
      [2, 0],
      [3, 2],
    ] as const) {
      d.feed(reply(step, "", [read]));
      d.feed(toolFinished(step, 0, "x"));
      d.feed(settled(item));
    }
    expect(d.on(reply(4, "", [read])).started).toEqual(["tool/4/0"]);
  });
});
