/** A repeated call is refused, then ends the run; a call that may have changed something is progress. */
import { describe, expect, test } from "vitest";
import type { ToolCall } from "../../protocol/tool.ts";
import { ToolSpec } from "../../protocol/tool.ts";
import {
  anError,
  aToolCall,
  childSettled,
  commanded,
  delegateTo,
  reply,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";

const spec = (name: string, effect: ToolSpec["effect"]): ToolSpec =>
  ToolSpec.parse({ name, description: name, risk: "low", effect, inputSchema: {} });
const tools = [spec("read", "read"), spec("write", "verifiable"), spec("shell", "unsafe")];

const read = aToolCall("read", { path: "a.txt" });
const write = aToolCall("write", { path: "a.txt", content: "x" });

/** One turn with these calls, all of them answered; tells which were run. */
function turn(d: MachineDriver, ...calls: ToolCall[]): string[] {
  const { step } = d.context();
  d.feed(reply(step, `words ${step}`, calls));
  const ran = d.context().calls.filter(({ phase }) => phase === "running");
  for (const { call, toolCall } of ran) d.feed(toolFinished(step, call, "x", { tool: toolCall.name }));
  return ran.map(({ toolCall }) => toolCall.name);
}

describe("identical calls", () => {
  test("two are allowed, the third and fourth are refused, the fifth ends the run", () => {
    const d = drive({ tools });
    expect([1, 2, 3, 4].map(() => turn(d, read))).toEqual([["read"], ["read"], [], []]);
    const messages = d
      .effect("callModel")
      .messages.flatMap((message) =>
        message.role === "tool" && message.isError ? [JSON.parse(message.text).error.message] : [],
      );
    expect(messages).toEqual([
      expect.stringContaining("read was asked for 3 times with the same arguments, and nothing has changed since"),
      expect.stringContaining("read was asked for 4 times"),
    ]);
    d.feed(reply(5, "again", [read]));
    expect(d.response()).toMatchObject({
      status: "bailed_out",
      bailoutReason: "repeated_calls",
      details: "again",
      error: { type: "budget", message: expect.stringContaining("the same call was asked for 5 times") },
    });
  });

  test("of one turn are counted separately", () => {
    const d = drive({ tools });
    expect(turn(d, read, read, read)).toEqual(["read", "read"]);
    expect(turn(d, read)).toEqual([]);
  });

  test("five in one turn end the run before any of them runs", () => {
    const d = drive({ tools });
    d.look();
    expect(d.on(reply(1, "", [read, read, read, read, read])).started).toEqual(["settle"]);
  });

  test("have the same arguments in any order of their keys", () => {
    const d = drive({ tools });
    turn(d, aToolCall("read", { path: "a", from: 1 }));
    turn(d, aToolCall("read", { from: 1, path: "a" }));
    expect(turn(d, aToolCall("read", { path: "a", from: 1 }), aToolCall("read", { path: "b" }))).toEqual(["read"]);
  });

  test("include a delegation under any name of the tool", () => {
    const d = drive();
    for (const [step, name] of [
      [1, "delegate"],
      [2, "Task"],
    ] as const) {
      d.feed(reply(step, "", [{ ...delegateTo("helper"), name }]));
      d.feed(childSettled(step, 0, { error: anError({ recoverable: false }) }));
    }
    d.look();
    expect(d.on(reply(3, "", [{ ...delegateTo("helper"), name: "Agent" }])).started).toEqual(["plan/3", "model/4"]);
  });
});

describe("progress", () => {
  test("is a call that may have changed something: then the others are allowed again", () => {
    const d = drive({ tools });
    turn(d, read);
    turn(d, read);
    turn(d, write);
    expect(turn(d, read)).toEqual(["read"]);
  });

  test.each<[string, ToolCall, Parameters<typeof toolFinished>[3]]>([
    ["a call that only reads", aToolCall("read", { path: "b.txt" }), {}],
    ["a failed call", write, { error: anError({ type: "tool_error" }) }],
    ["a call in doubt", write, { inDoubt: true }],
  ])("is not %s", (_, call, outcome) => {
    const d = drive({ tools });
    turn(d, read);
    turn(d, read);
    d.feed(reply(3, "", [call]));
    d.feed(toolFinished(3, 0, "x", { ...outcome, tool: call.name }));
    expect(turn(d, read)).toEqual([]);
  });

  test("is not made by two alternating calls, though each may change something", () => {
    const d = drive({ tools });
    const ping = aToolCall("shell", { command: "ping" });
    const pong = aToolCall("shell", { command: "pong" });
    const ran: string[][] = [];
    for (let i = 0; i < 12 && !d.context().response; i += 1) ran.push(turn(d, i % 2 === 0 ? ping : pong));
    expect(d.response().bailoutReason).toBe("repeated_calls");
    expect(ran.flat().length).toBeLessThanOrEqual(6);
  });

  test("is a delegation that succeeded", () => {
    const d = drive({ tools });
    turn(d, read);
    turn(d, read);
    d.feed(reply(3, "", [delegateTo("helper")]));
    d.feed(childSettled(3, 0));
    expect(turn(d, read)).toEqual(["read"]);
  });

  test("is a message of a person", () => {
    const d = drive({ tools });
    turn(d, read);
    d.feed(commanded({ kind: "run.steered", text: "look again" }));
    turn(d, read);
    expect(turn(d, read)).toEqual(["read"]);
  });
});
