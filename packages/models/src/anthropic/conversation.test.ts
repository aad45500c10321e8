import type { Message, ToolCall } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { wireConversation } from "./conversation.ts";
import { blockSignatures } from "./thinking.ts";

const call = (id: string, name = "read", args: ToolCall["args"] = {}): ToolCall => ({ id, name, args, problem: null });
const user = (text: string): Message => ({ role: "user", text });
const assistant = (text: string, ...calls: ToolCall[]): Message => ({ role: "assistant", text, calls });
const result = (callId: string, text: string, isError = false): Message => {
  return { role: "tool", callId, name: "read", text, isError };
};

const signatures = blockSignatures();
const wire = (...messages: Message[]) =>
  wireConversation(messages, { provider: "anthropic", model: "claude-sonnet-5-5", signatures }).messages;
const text = (content: string) => ({ type: "text", text: content });
const use = (id: string, input: object = {}) => ({ type: "tool_use", id, name: "read", input });
const toolResult = (tool_use_id: string, content: string) => ({ type: "tool_result", tool_use_id, content });

describe("a conversation of the API", () => {
  test("has results first, in the order of their calls, then the messages that came meanwhile", () => {
    const messages = wire(
      user("Go."),
      assistant("On it.", call("a"), call("b", "read", { path: "b" })),
      user("Faster!"),
      result("b", "of b", true),
      result("a", "of a"),
      user("Please."),
      assistant("Done."),
      user("Thanks."),
    );
    expect(messages).toEqual([
      { role: "user", content: [text("Go.")] },
      { role: "assistant", content: [text("On it."), use("a"), use("b", { path: "b" })] },
      {
        role: "user",
        content: [
          toolResult("a", "of a"),
          { ...toolResult("b", "of b"), is_error: true },
          text("Faster!"),
          text("Please."),
        ],
      },
      { role: "assistant", content: [text("Done.")] },
      { role: "user", content: [text("Thanks.")] },
    ]);
  });

  test("has no empty text and no empty message", () => {
    const messages = wire(
      user("Go."),
      user(" \n"),
      assistant(" "),
      user("Well?"),
      assistant("\n", call("a")),
      result("a", " "),
    );
    expect(messages).toEqual([
      { role: "user", content: [text("Go."), text("Well?")] },
      { role: "assistant", content: [use("a")] },
      { role: "user", content: [toolResult("a", "(no output)")] },
    ]);
  });

  test("has the results right after their call, even after an empty reply", () => {
    const messages = wire(user("Go."), assistant("", call("a")), assistant(" "), result("a", "of a"));
    expect(messages.at(-1)).toEqual({ role: "user", content: [toolResult("a", "of a")] });
  });

  test.each<[string, Message[]]>([
    ["nothing", []],
    ["a reply", [assistant("So.")]],
    ["blanks", [user(" ")]],
    ["a call without a result", [assistant("So.", call("a"))]],
    ["a result without a call", [result("a", "of a")]],
  ])("begins and ends with the user, even of %s", (_, given) => {
    const messages = wire(...given);
    expect(messages[0]?.role).toBe("user");
    expect(messages.at(-1)?.role).toBe("user");
    for (const { content } of messages) expect(content.length).toBeGreaterThan(0);
  });

  test("has one result for each call, and a result without its call as text", () => {
    const messages = wire(
      user("Go."),
      assistant("", call("a"), call("b")),
      result("b", "of b"),
      result("z", "of z", true),
    );
    expect(messages[2]?.content).toEqual([
      { ...toolResult("a", "(the result of this call is unknown)"), is_error: true },
      toolResult("b", "of b"),
      text("Failure of read: of z"),
    ]);
  });

  test("has every id once, in valid characters, with each result at its call", () => {
    const messages = wire(
      user("Go."),
      assistant("", call("call.1"), call("call.1")),
      result("call.1", "first"),
      result("call.1", "second"),
      assistant("", call("call.1"), call("")),
      result("", "fourth"),
      result("call.1", "third"),
    );
    expect(messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_result"))).toEqual([
      toolResult("call_1", "first"),
      toolResult("call_1_2", "second"),
      toolResult("call_1_3", "third"),
      toolResult("call", "fourth"),
    ]);
  });

  test("contains calls with invalid arguments, and replaces half characters", () => {
    const broken = { ...call("a", "no such tool!"), args: null, problem: "not JSON" };
    const messages = wire(user("\ud83d?"), assistant("\ude00!", broken), result("a", "\ud83d"));
    expect(messages).toEqual([
      { role: "user", content: [text("\ufffd?")] },
      {
        role: "assistant",
        content: [
          text("\ufffd!"),
          { type: "tool_use", id: "a", name: expect.stringMatching(/^no_such_tool__[0-9a-f]{8}$/), input: {} },
        ],
      },
      { role: "user", content: [toolResult("a", "\ufffd")] },
    ]);
  });

  test("is a prefix of its longer version", () => {
    const before = [user("Go."), assistant("On it.", call("a"), call("a")), result("a", "of a")];
    const after = [...before, result("a", "again"), assistant("", call("a")), result("a", "and again")];
    expect(wire(...after).slice(0, 2)).toEqual(wire(...before).slice(0, 2));
  });

  test("has no thinking at its end, and none of another provider", () => {
    const thinkingAt = (textBefore: number, signature: string, provider = "anthropic") => {
      const block = { type: "thinking", thinking: "hm", signature };
      return { provider, model: "claude-sonnet-5-5", textBefore, callsBefore: 0, seal: signatures.of(block), block };
    };
    const thinking = [
      thinkingAt(0, "first"),
      thinkingAt(0, "foreign", "bedrock"),
      thinkingAt(3, "second"),
      thinkingAt(6, "last"),
    ];
    const messages = wire(user("Go."), { role: "assistant", text: "onetwo", calls: [], thinking }, user("And?"));
    expect(messages[1]?.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "first" },
      text("one"),
      { type: "thinking", thinking: "hm", signature: "second" },
      text("two"),
    ]);
  });
});
