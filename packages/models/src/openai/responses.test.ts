/** Responses over a real socket, with the real SDK: events as OpenAI sends them, and what becomes of them. */
import { type Json, type Message, ModelReply } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { callOf, failureOf, providerFor, requestFor, sse, usePlayServer } from "./openai-server.test-helper.ts";

const server = usePlayServer();
const provider = () => providerFor(server.baseUrl(), { wire: "openai-responses" });

const usage = {
  input_tokens: 20,
  output_tokens: 9,
  total_tokens: 29,
  input_tokens_details: { cached_tokens: 16, cache_write_tokens: 2 },
  output_tokens_details: { reasoning_tokens: 4 },
};
const delta = (delta: string) => ({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta });
const done = (output_index: number, item: Json) => ({ type: "response.output_item.done", output_index, item });
const end = (type = "completed", more: object = {}) =>
  ({ type: `response.${type}`, response: { id: "r1", status: type, output: [], usage, ...more } }) as Json;
const message = (text: string, more: object = {}): Json =>
  ({
    type: "message",
    id: "m1",
    role: "assistant",
    content: [{ type: "output_text", text, annotations: [] }],
    ...more,
  }) as Json;
const call = (call_id: string, name: string, args: string): Json => ({
  type: "function_call",
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: args,
});
const reasoning = (id: string): Json => ({ type: "reasoning", id, summary: [], encrypted_content: `secret of ${id}` });

test("a text comes as it is said, and the reply is what was heard", async () => {
  server.play({
    body: sse(
      { type: "response.created", response: {} },
      delta("Good "),
      delta("day"),
      done(0, message("Good day")),
      end(),
    ),
  });
  const { reply, heard } = await callOf(provider());
  expect(ModelReply.parse(reply)).toEqual(reply);
  expect(heard).toEqual(["Good ", "day"]);
  expect(reply).toMatchObject({ text: "Good day", calls: [], stopReason: "end" });
  expect(reply.usage).toEqual({
    inputTokens: 20,
    outputTokens: 9,
    cachedTokens: 16,
    cacheWriteTokens: 2,
    reasoningTokens: 4,
    costUsd: null,
  });
});

test("what comes only at the end is heard then", async () => {
  server.play({ body: sse(end("completed", { output: [message("Good day"), call("c1", "read", "{}")] })) });
  const { reply, heard } = await callOf(provider());
  expect(heard).toEqual(["Good day"]);
  expect(reply).toMatchObject({
    text: "Good day",
    calls: [{ id: "c1", name: "read", args: {} }],
    stopReason: "tool_calls",
  });
});

test("words, calls and thoughts keep their places, and go back in them", async () => {
  const output = [
    reasoning("rs_1"),
    message("First.", { phase: "commentary" }),
    reasoning("rs_2"),
    call("c1", "read", '{"path":"a"}'),
    reasoning("rs_3"),
    call("c2", "read", '{"path":"b"}'),
  ];
  server.play({ body: sse(delta("First."), ...output.map((item, i) => done(i, item)), end("completed", { output })) });
  const { reply } = await callOf(provider());
  expect(reply).toMatchObject({ text: "First.", stopReason: "tool_calls", calls: [{ id: "c1" }, { id: "c2" }] });
  expect(reply.thinking).toEqual([
    { provider: "acme", model: "m-1", textBefore: 0, callsBefore: 0, block: reasoning("rs_1") },
    { provider: "acme", model: "m-1", textBefore: 0, callsBefore: 0, block: { type: "message", phase: "commentary" } },
    { provider: "acme", model: "m-1", textBefore: 6, callsBefore: 0, block: reasoning("rs_2") },
    { provider: "acme", model: "m-1", textBefore: 6, callsBefore: 1, block: reasoning("rs_3") },
  ]);

  const { text, calls, thinking = [] } = reply;
  const result = (callId: string): Message => ({ role: "tool", callId, name: "read", text: callId, isError: false });
  const messages: Message[] = [
    { role: "user", text: "go" },
    { role: "assistant", text, calls, thinking },
    result("c1"),
    result("c2"),
  ];
  await callOf(provider(), requestFor({ messages }));
  expect(server.asked[1]?.body.input).toEqual([
    { role: "user", content: "go" },
    reasoning("rs_1"),
    { role: "assistant", content: "First.", phase: "commentary" },
    reasoning("rs_2"),
    { type: "function_call", call_id: "c1", name: "read", arguments: '{"path":"a"}' },
    reasoning("rs_3"),
    { type: "function_call", call_id: "c2", name: "read", arguments: '{"path":"b"}' },
    { type: "function_call_output", call_id: "c1", output: "c1" },
    { type: "function_call_output", call_id: "c2", output: "c2" },
  ]);

  await callOf(provider(), requestFor({ messages, model: "acme/another" }));
  expect(JSON.stringify(server.asked[2]?.body.input)).not.toContain("rs_");
});

test("a thought of which only the id came is not sent back: it is stored nowhere", async () => {
  const block = { type: "reasoning", id: "rs_1", summary: [] };
  const thinking = [{ provider: "acme", model: "m-1", textBefore: 0, callsBefore: 0, block }];
  server.play({ body: sse(end()) });
  await callOf(
    provider(),
    requestFor({
      messages: [
        { role: "user", text: "go" },
        { role: "assistant", text: "Hi", calls: [], thinking },
      ],
    }),
  );
  expect(server.asked[0]?.body.input).toEqual([
    { role: "user", content: "go" },
    { role: "assistant", content: "Hi" },
  ]);
});

describe("an answer ends", () => {
  test("cut off by its limit", async () => {
    const body = sse(delta("So"), end("incomplete", { incomplete_details: { reason: "max_output_tokens" } }));
    server.play({ body });
    expect((await callOf(provider())).reply).toMatchObject({ text: "So", stopReason: "max_tokens" });
  });

  test("cut off by a filter", async () => {
    server.play({ body: sse(delta("So"), end("incomplete", { incomplete_details: { reason: "content_filter" } })) });
    expect((await callOf(provider())).reply).toMatchObject({ text: "So", stopReason: "refusal" });
  });

  test("with a refusal, which is heard", async () => {
    const refused = { type: "message", content: [{ type: "refusal", refusal: "I cannot." }] };
    server.play({ body: sse({ type: "response.refusal.delta", delta: "I cannot." }, done(0, refused), end()) });
    const { reply, heard } = await callOf(provider());
    expect(reply).toMatchObject({ text: "I cannot.", stopReason: "refusal" });
    expect(heard).toEqual(["I cannot."]);
  });
});

describe("calls", () => {
  test("have ids of their own, whatever ids they came with", async () => {
    server.play({
      body: sse(
        done(0, call("c", "read", "{}")),
        done(1, call("c", "read", "{}")),
        done(2, call("", "read", "{}")),
        end(),
      ),
    });
    const { reply } = await callOf(provider());
    expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(3);
  });

  test("whose arguments are broken are named, and the others are whole", async () => {
    server.play({ body: sse(done(0, call("c1", "read", '{"path":')), done(1, call("c2", "write", "{}")), end()) });
    const { reply } = await callOf(provider());
    expect(reply.calls).toMatchObject([
      { name: "read", args: null },
      { name: "write", args: {}, problem: null },
    ]);
  });
});

describe("an answer that is none is a failure, and may have been paid for:", () => {
  test.for([
    {
      what: "it ends without saying so",
      played: { body: sse(delta("So"), done(0, message("So"))) },
      says: "the answer ended before it was whole",
    },
    { what: "the connection breaks", played: { body: sse(delta("So")), after: "cut" as const }, says: "broke off" },
    {
      what: "it fails",
      played: { body: sse(delta("So"), end("failed", { error: { code: "server_error", message: "it hurts" } })) },
      says: "acme: it hurts (HTTP 500, server_error)",
    },
    {
      what: "an error event comes",
      played: { body: sse(delta("So"), { type: "error", code: "server_error", message: "it hurts", param: null }) },
      says: "acme: it hurts (HTTP 500, server_error)",
    },
  ])("$what", async ({ played, says }) => {
    server.play(played);
    const error = await failureOf(callOf(provider()));
    expect(error).toMatchObject({ type: "network", recoverable: true, begun: true });
    expect(error.message).toContain(says);
  });

  test("a spent quota within the stream is no reason to try again", async () => {
    server.play({
      body: sse({ type: "error", code: "insufficient_quota", message: "You exceeded your current quota", param: null }),
    });
    expect(await failureOf(callOf(provider()))).toMatchObject({ type: "budget", recoverable: false, begun: false });
  });
});

test("a server that keeps the connection open after the end keeps nobody waiting", async () => {
  server.play({ body: sse(delta("So"), done(0, message("So")), end()), after: "hold" });
  expect((await callOf(provider())).reply.text).toBe("So");
});
