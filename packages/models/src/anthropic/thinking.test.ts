import { describe, expect, test } from "vitest";
import {
  ask,
  block,
  options,
  provide,
  saying,
  start,
  stop,
  streaming,
  text,
  thought,
  tool,
  use,
} from "./anthropic-server.test-helper.ts";

describe("thinking", () => {
  const read = tool("read");
  const thinking = (signature: string, id: string) =>
    streaming(
      start(),
      ...thought(0, "Let me see.", signature),
      ...use(1, id, "read", '{"path":"a"}'),
      ...stop("tool_use"),
    );
  const result = (callId: string) => ({ role: "tool", callId, name: "read", text: "of a", isError: false }) as const;

  test("comes with the reply, and goes back in place and unchanged", async () => {
    const redacted = { type: "redacted_thinking", data: "sealed" };
    const { provider, asked } = await provide([
      streaming(
        start(),
        ...thought(0, "First", "sig-1"),
        ...text(1, "Now I look."),
        ...use(2, "toolu_1", "read", '{"path":"a"}'),
        ...block(3, redacted),
        ...use(4, "toolu_2", "read", '{"path":"b"}'),
        ...stop("tool_use"),
      ),
      saying("done"),
    ]);
    const first = ask({ tools: [read], effort: "high" });
    const { text: replyText, calls, thinking: blocks } = await provider.call(first, options());
    expect(blocks).toMatchObject([
      { provider: "anthropic", model: "claude-sonnet-5-5", textBefore: 0, callsBefore: 0 },
      { textBefore: 11, callsBefore: 1, block: redacted },
    ]);

    const reply = { role: "assistant", text: replyText, calls, thinking: JSON.parse(JSON.stringify(blocks)) } as const;
    const messages = [...first.messages, reply, result("toolu_2"), result("toolu_1")];
    await provider.call({ ...first, messages }, options());
    expect(asked[1]?.body.messages[1]?.content).toEqual([
      { type: "thinking", thinking: "First", signature: "sig-1" },
      { type: "text", text: "Now I look." },
      { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
      redacted,
      { type: "tool_use", id: "toolu_2", name: "read", input: { path: "b" } },
    ]);
    expect(asked[1]?.body.thinking).toEqual({ type: "adaptive" });
  });

  /** Two turns of one loop, then a third request whose conversation `change` has changed. */
  async function thirdRequest(model: string, change: (request: ReturnType<typeof ask>) => ReturnType<typeof ask>) {
    const { provider, asked } = await provide([
      thinking("sig-1", "toolu_1"),
      thinking("sig-2", "toolu_2"),
      saying("done"),
    ]);
    const request = ask({ model: `anthropic/${model}`, tools: [read], effort: "high" });
    for (const id of ["toolu_1", "toolu_2"]) {
      const { text: replyText, calls, thinking: blocks = [] } = await provider.call(request, options());
      request.messages = [
        ...request.messages,
        { role: "assistant", text: replyText, calls, thinking: blocks },
        result(id),
      ];
    }
    await provider.call(change(request), options());
    const sent = JSON.stringify(asked[2]?.body.messages);
    return { signatures: sent.match(/sig-\d/g) ?? [], thinking: asked[2]?.body.thinking };
  }

  const withFirst = (request: ReturnType<typeof ask>, words: string) => ({
    ...request,
    messages: [{ role: "user" as const, text: words }, ...request.messages.slice(1)],
  });

  test.each(["claude-sonnet-5-5", "claude-opus-4-8", "claude-sonnet-4-5"])(
    "of %s goes back while nothing has changed",
    async (model) => {
      const { signatures, thinking: asked } = await thirdRequest(model, (request) => request);
      expect(signatures).toEqual(["sig-1", "sig-2"]);
      expect(asked).toMatchObject({ type: model === "claude-sonnet-4-5" ? "enabled" : "adaptive" });
    },
  );

  test.each<[string, Parameters<typeof thirdRequest>[1]]>([
    ["the prompt", (request) => ({ ...request, system: "You help no more." })],
    ["the tools", (request) => ({ ...request, tools: [] })],
    ["the first words", (request) => withFirst(request, "Something else?")],
  ])("bound to its conversation is left out after a change of %s", async (_, change) => {
    const { signatures, thinking: asked } = await thirdRequest("claude-sonnet-5-5", change);
    expect(signatures).toEqual([]);
    expect(asked).toBeUndefined();
  });

  test("bound to its conversation is kept up to the change", async () => {
    const { signatures } = await thirdRequest("claude-opus-5-5", (request) => ({
      ...request,
      messages: request.messages.map((message) =>
        message.role === "tool" && message.callId === "toolu_1" ? { ...message, text: "(replaced)" } : message,
      ),
    }));
    expect(signatures).toEqual(["sig-1"]);
  });

  test.each(["claude-opus-5-5", "claude-opus-4-8", "claude-sonnet-4-5"])(
    "of %s that was changed is left out",
    async (model) => {
      const { signatures, thinking: asked } = await thirdRequest(model, (request) => ({
        ...request,
        messages: JSON.parse(JSON.stringify(request.messages).replace("Let me see.", "Let me [redacted].")),
      }));
      expect(signatures).toEqual([]);
      expect(asked).toBeUndefined();
    },
  );

  test("that is not bound goes back after any change", async () => {
    const { signatures } = await thirdRequest("claude-opus-4-8", (request) => withFirst(request, "Something else?"));
    expect(signatures).toEqual(["sig-1", "sig-2"]);
  });

  test.each(["claude-opus-4-8", "claude-sonnet-4-5"])(
    "of another model is not sent, and the request for %s has no thinking",
    async (model) => {
      const other = model === "claude-opus-4-8" ? "claude-sonnet-4-5" : "claude-opus-4-8";
      const { signatures, thinking: asked } = await thirdRequest(model, (request) => ({
        ...request,
        model: `anthropic/${other}`,
      }));
      expect([signatures, asked]).toEqual([[], undefined]);
    },
  );

  test("of an earlier loop may be missing", async () => {
    const { thinking: asked } = await thirdRequest("claude-sonnet-4-5", (request) => ({
      ...request,
      model: "anthropic/claude-opus-4-8",
      messages: [
        ...request.messages,
        { role: "assistant", text: "So.", calls: [] },
        { role: "user", text: "And now?" },
      ],
    }));
    expect(asked).toEqual({ type: "adaptive" });
  });
});
