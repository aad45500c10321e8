/** Responses over a real socket, with the real SDK: events in the format of OpenAI, and the resulting replies. */
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

test("a text is streamed, and the reply is the sum of its deltas", async () => {
  server.play({
    body: sse(
      { type: "response.created", response: {} },
      delta("Good "),
      delta("day"),
      done(0, message("Good day")),
      end(),
    ),
  });
  const { reply, deltas } = await callOf(provider());
  expect(ModelReply.parse(reply)).toEqual(reply);
  expect(deltas).toEqual(["Good ", "day"]);
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

test("text without deltas is streamed at the end", async () => {
  server.play({ body: sse(end("completed", { output: [message("Good day"), call("c1", "read", "{}")] })) });
  const { reply, deltas } = await callOf(provider());
  expect(deltas).toEqual(["Good day"]);
  expect(reply).toMatchObject({
    text: "Good day",
    calls: [{ id: "c1", name: "read", args: {} }],
    stopReason: "tool_calls",
  });
});

test("text, calls and reasoning keep their positions, and go back in them", async () => {
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

test("reasoning with only an id is not sent back: the vendor did not store it", async () => {
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

  test("with a refusal, which is streamed", async () => {
    const refused = { type: "message", content: [{ type: "refusal", refusal: "I cannot." }] };
    server.play({ body: sse({ type: "response.refusal.delta", delta: "I cannot." }, done(0, refused), end()) });
    const { reply, deltas } = await callOf(provider());
    expect(reply).toMatchObject({ text: "I cannot.", stopReason: "refusal" });
    expect(deltas).toEqual(["I cannot."]);
  });
});

describe("calls", () => {
  test("have unique ids, with any ids from the server", async () => {
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

  test("with invalid arguments have a problem, and the others are complete", async () => {
    server.play({ body: sse(done(0, call("c1", "read", '{"path":')), done(1, call("c2", "write", "{}")), end()) });
    const { reply } = await callOf(provider());
    expect(reply.calls).toMatchObject([
      { name: "read", args: null },
      { name: "write", args: {}, problem: null },
    ]);
  });
});

describe("an incomplete answer is a failure, and may be charged:", () => {
  test.for([
    {
      what: "it ends without a closing event",
      played: { body: sse(delta("So"), done(0, message("So"))) },
      says: "the answer ended before it was complete",
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

  test("a spent quota inside the stream is not retried", async () => {
    server.play({
      body: sse({ type: "error", code: "insufficient_quota", message: "You exceeded your current quota", param: null }),
    });
    expect(await failureOf(callOf(provider()))).toMatchObject({ type: "budget", recoverable: false, begun: false });
  });
});

test("a server that keeps the connection open after the end delays no call", async () => {
  server.play({ body: sse(delta("So"), done(0, message("So")), end()), after: "hold" });
  expect((await callOf(provider())).reply.text).toBe("So");
});
