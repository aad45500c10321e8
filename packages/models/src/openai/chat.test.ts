/** Chat completions over a real socket, with the real SDK: answers of servers and the resulting replies. */
import { ModelReply } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { callOf, chunk, failureOf, providerFor, requestFor, sse, usePlayServer } from "./openai-server.test-helper.ts";

const server = usePlayServer();
const usage = { choices: [], usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } };

test("a text is streamed, and the reply is the sum of its deltas", async () => {
  server.play({
    body: sse(
      chunk({ role: "assistant", content: "Good " }),
      chunk({ content: "day" }),
      chunk({}, "stop"),
      usage,
      "[DONE]",
    ),
  });
  const { reply, deltas, activity } = await callOf(providerFor(server.baseUrl()));
  expect(ModelReply.parse(reply)).toEqual(reply);
  expect(deltas).toEqual(["Good ", "day"]);
  expect(reply).toMatchObject({ text: "Good day", calls: [], stopReason: "end", model: "acme/m-1" });
  expect(reply.usage).toEqual({ inputTokens: 12, outputTokens: 3, cachedTokens: 0, costUsd: null });
  expect(activity).toBeGreaterThan(0);
});

describe("calls are assembled from the parts of any server:", () => {
  const part = (index: number | null, fields: object) => ({ ...(index === null ? {} : { index }), ...fields }) as never;
  const named = (name: string, args?: unknown, id?: string) =>
    ({
      ...(id === undefined ? {} : { id }),
      type: "function",
      function: { name, ...(args === undefined ? {} : { arguments: args }) },
    }) as object;
  const more = (args: string, id?: string) => ({ ...(id === undefined ? {} : { id }), function: { arguments: args } });
  const both = [
    { name: "read", args: { path: "a" } },
    { name: "write", args: { path: "b" } },
  ];
  test.for([
    {
      what: "in parts, in turns",
      deltas: [
        [part(0, named("read", "", "c1")), part(1, named("write", "", "c2"))],
        [part(0, more('{"path'))],
        [part(1, more('{"path":'))],
        [part(0, more('":"a"}'))],
        [part(1, more('"b"}'))],
      ],
    },
    {
      what: "whole, at once",
      deltas: [[part(0, named("read", '{"path":"a"}', "c1")), part(1, named("write", '{"path":"b"}', "c2"))]],
    },
    {
      what: "without numbers",
      deltas: [[part(null, named("read", '{"path":"a"}', "c1"))], [part(null, named("write", '{"path":"b"}', "c2"))]],
    },
    {
      what: "without numbers, in parts",
      deltas: [
        [part(null, named("read", '{"pa', "c1"))],
        [part(null, more('th":"a"}'))],
        [part(null, named("write", '{"path":"b"}', "c2"))],
      ],
    },
    {
      what: "all with one number",
      deltas: [[part(0, named("read", '{"path":"a"}', "c1"))], [part(0, named("write", '{"path":"b"}', "c2"))]],
    },
    {
      what: "with one number and no ids",
      deltas: [[part(0, named("read", '{"path":"a"}'))], [part(0, named("write", '{"path":"b"}'))]],
    },
    {
      what: "without ids",
      deltas: [[part(0, named("read", '{"path":"a"}')), part(1, named("write", '{"path":"b"}'))]],
    },
    {
      what: "with empty ids",
      deltas: [[part(0, named("read", '{"path":"a"}', "")), part(1, named("write", '{"path":"b"}', ""))]],
    },
    {
      what: "with one id for all",
      deltas: [[part(0, named("read", '{"path":"a"}', "c")), part(1, named("write", '{"path":"b"}', "c"))]],
    },
    {
      what: "with objects for arguments",
      deltas: [[part(0, named("read", { path: "a" }, "c1")), part(1, named("write", { path: "b" }, "c2"))]],
    },
    {
      what: "with name and id in every part",
      deltas: [
        [part(0, named("read", '{"path":', "c1"))],
        [part(0, named("read", '"a"}', "c1"))],
        [part(1, named("write", '{"path":', "c2"))],
        [part(1, named("write", '"b"}', "c2"))],
      ],
    },
  ])("$what", async ({ deltas }) => {
    server.play({
      body: sse(...deltas.map((calls) => chunk({ tool_calls: calls })), chunk({}, "tool_calls"), usage, "[DONE]"),
    });
    const { reply } = await callOf(providerFor(server.baseUrl()));
    expect(reply).toMatchObject({ stopReason: "tool_calls", calls: both.map((call) => ({ ...call, problem: null })) });
    expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(2);
    expect(reply.calls.every(({ id }) => id !== "")).toBe(true);
  });

  test("an id of an earlier turn is not used again", async () => {
    server.play({ body: sse(chunk({ tool_calls: [part(0, named("read", "{}", "c1"))] }, "tool_calls"), "[DONE]") });
    const messages = [
      { role: "user" as const, text: "go" },
      { role: "assistant" as const, text: "", calls: [{ id: "c1", name: "read", args: {}, problem: null }] },
      { role: "tool" as const, callId: "c1", name: "read", text: "…", isError: false },
    ];
    const { reply } = await callOf(providerFor(server.baseUrl()), requestFor({ messages }));
    expect(reply.calls).toHaveLength(1);
    expect(reply.calls[0]?.id).not.toBe("c1");
  });

  test("calls that end with `stop` are calls", async () => {
    server.play({ body: sse(chunk({ tool_calls: [part(0, named("read", "", "c1"))] }), chunk({}, "stop"), "[DONE]") });
    const { reply } = await callOf(providerFor(server.baseUrl()));
    expect(reply).toMatchObject({ stopReason: "tool_calls", calls: [{ name: "read", args: {}, problem: null }] });
  });

  test("a call with invalid arguments has a problem, and the others are complete", async () => {
    server.play({
      body: sse(
        chunk(
          {
            content: "Both.",
            tool_calls: [part(0, named("read", '{"path":', "c1")), part(1, named("write", '{"path":"b"}', "c2"))],
          },
          "tool_calls",
        ),
        "[DONE]",
      ),
    });
    const { reply } = await callOf(providerFor(server.baseUrl()));
    expect(reply).toMatchObject({
      text: "Both.",
      calls: [
        { name: "read", args: null },
        { name: "write", args: { path: "b" }, problem: null },
      ],
    });
    expect(reply.calls[0]?.problem).toMatch(/^its arguments are not valid JSON/);
  });
});

describe("an answer ends", () => {
  test.for([
    { finish: "stop", stopReason: "end" },
    { finish: "length", stopReason: "max_tokens" },
    { finish: "content_filter", stopReason: "refusal" },
    { finish: "eos", stopReason: "end" },
  ])("with $finish: $stopReason", async ({ finish, stopReason }) => {
    server.play({ body: sse(chunk({ content: "So" }), chunk({}, finish), "[DONE]") });
    expect((await callOf(providerFor(server.baseUrl()))).reply).toMatchObject({ text: "So", stopReason });
  });

  test("with a refusal, which is streamed", async () => {
    server.play({ body: sse(chunk({ refusal: "I cannot." }), chunk({}, "stop"), "[DONE]") });
    const { reply, deltas } = await callOf(providerFor(server.baseUrl()));
    expect(reply).toMatchObject({ text: "I cannot.", stopReason: "refusal" });
    expect(deltas).toEqual(["I cannot."]);
  });

  test("without [DONE], if it has a finish reason", async () => {
    server.play({ body: sse(chunk({ content: "So" }, "stop")) });
    expect((await callOf(providerFor(server.baseUrl()))).reply.text).toBe("So");
  });

  test("with [DONE] alone", async () => {
    server.play({ body: sse(chunk({ content: "So" }), "[DONE]") });
    expect((await callOf(providerFor(server.baseUrl()))).reply.text).toBe("So");
  });
});

describe("an incomplete answer is a failure, and may be charged:", () => {
  test.for([
    {
      what: "it ends without a reason",
      played: { body: sse(chunk({ content: "So" })) },
      says: "the answer ended before it was complete",
    },
    { what: "it is empty", played: { body: "" }, says: "the answer is empty" },
    {
      what: "the connection breaks",
      played: { body: sse(chunk({ content: "So" })), after: "cut" as const },
      says: "broke off",
    },
    {
      what: "the connection breaks after the last word",
      played: { body: sse(chunk({ content: "So" }, "stop")), after: "cut" as const },
      says: "broke off",
    },
    { what: "an event is not JSON", played: { body: ["data: {oops\n\n"] }, says: "it sent an event that is not JSON" },
    { what: "the model gives up", played: { body: sse(chunk({ content: "So" }, "error")) }, says: "could not finish" },
    {
      what: "an error comes inside it",
      played: { body: sse(chunk({ content: "So" }), { error: { message: "overloaded", type: "server_error" } }) },
      says: "acme: overloaded (HTTP 500, server_error)",
    },
  ])("$what", async ({ played, says }) => {
    server.play(played);
    const error = await failureOf(callOf(providerFor(server.baseUrl())));
    expect(error).toMatchObject({ type: "network", recoverable: true, begun: true });
    expect(error.message).toContain(says);
  });
});

describe("an error with status 200 is treated as if it had its own status:", () => {
  test.for([
    { error: { message: "slow down", code: "rate_limit_exceeded" }, type: "rate_limit", recoverable: true },
    { error: { message: "slow down", code: 429 }, type: "rate_limit", recoverable: true },
    { error: { message: "no credit", code: "insufficient_quota" }, type: "budget", recoverable: false },
    { error: { message: "who are you?", code: "invalid_api_key" }, type: "auth", recoverable: false },
    { error: "the model is gone for unknown reasons", type: "network", recoverable: true },
  ])("$error", async ({ error, type, recoverable }) => {
    server.play({ body: sse({ error }) });
    expect(await failureOf(callOf(providerFor(server.baseUrl())))).toMatchObject({
      type,
      recoverable,
      begun: type === "network",
    });
  });
});

describe("reasoning", () => {
  const call = { index: 0, id: "c1", function: { name: "read", arguments: "{}" } };
  const thinking = [
    {
      delta: { reasoning_content: "Hmm, " },
      more: { reasoning_content: "yes." },
      block: { reasoning_content: "Hmm, yes." },
    },
    { delta: { reasoning: "Hmm, " }, more: { reasoning: "yes." }, block: { reasoning: "Hmm, yes." } },
    {
      delta: { reasoning: "Hmm, ", reasoning_details: [{ type: "reasoning.text", index: 0, text: "Hmm, " }] },
      more: {
        reasoning: "yes.",
        reasoning_details: [
          { type: "reasoning.text", index: 0, text: "yes.", signature: "s" },
          { type: "reasoning.encrypted", index: 1, data: "x" },
        ],
      },
      block: {
        reasoning_details: [
          { type: "reasoning.text", index: 0, text: "Hmm, yes.", signature: "s" },
          { type: "reasoning.encrypted", index: 1, data: "x" },
        ],
      },
    },
  ];
  test.for(thinking)("is not part of the text, but stored and sent back: $block", async ({ delta, more, block }) => {
    server.play({
      body: sse(chunk(delta), chunk(more), chunk({ content: "I read.", tool_calls: [call] }, "tool_calls"), "[DONE]"),
    });
    const provider = providerFor(server.baseUrl());
    const { reply, deltas } = await callOf(provider);
    expect(deltas.join("")).toBe("I read.");
    expect(reply.thinking).toEqual([{ provider: "acme", model: "m-1", textBefore: 0, callsBefore: 0, block }]);

    const { text, calls, thinking: thoughts = [] } = reply;
    const messages = [
      { role: "user" as const, text: "go" },
      { role: "assistant" as const, text, calls, thinking: thoughts },
      { role: "tool" as const, callId: "c1", name: "read", text: "…", isError: false },
    ];
    await callOf(provider, requestFor({ messages }));
    expect(server.asked[1]?.body.messages[2]).toMatchObject(block);
    await callOf(provider, requestFor({ messages, model: "acme/another" }));
    expect(Object.keys(server.asked[2]?.body.messages[2])).toEqual(["role", "content", "tool_calls"]);
  });

  test("is separated from text when content comes in parts", async () => {
    const content = [
      { type: "thinking", text: "Hmm." },
      { type: "text", text: "Yes." },
    ];
    server.play({ body: sse(chunk({ content }, "stop"), "[DONE]") });
    expect((await callOf(providerFor(server.baseUrl()))).reply.text).toBe("Yes.");
  });
});

describe("usage", () => {
  const withUsage = async (usage: object, model = "acme/priced") => {
    server.play({ body: sse(chunk({ content: "So" }, "stop"), { choices: [], usage } as never, "[DONE]") });
    return (await callOf(providerFor(server.baseUrl()), requestFor({ model }))).reply.usage;
  };
  test("counts cached tokens and reasoning once, and has its price", async () => {
    const details = {
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens_details: { reasoning_tokens: 50 },
    };
    expect(await withUsage({ prompt_tokens: 500, completion_tokens: 100, total_tokens: 600, ...details })).toEqual({
      inputTokens: 500,
      outputTokens: 100,
      cachedTokens: 400,
      reasoningTokens: 50,
      costUsd: 0.6,
    });
  });
  test("includes reasoning that a server counts only in its total", async () => {
    const details = { completion_tokens_details: { reasoning_tokens: 50 } };
    expect(
      await withUsage({ prompt_tokens: 500, completion_tokens: 100, total_tokens: 650, ...details }),
    ).toMatchObject({ outputTokens: 150 });
  });
  test("reads DeepSeek's field for the cache", async () => {
    expect(await withUsage({ prompt_tokens: 500, completion_tokens: 1, prompt_cache_hit_tokens: 300 })).toMatchObject({
      cachedTokens: 300,
    });
  });
  test("is estimated when a server sends none or nonsense, and has its price", async () => {
    for (const usage of [
      {},
      { prompt_tokens: 0, completion_tokens: 0 },
      { prompt_tokens: "many", completion_tokens: -1 },
    ]) {
      expect(await withUsage(usage)).toEqual({ inputTokens: 5, outputTokens: 1, cachedTokens: 0, costUsd: 0.006 });
    }
  });
  test("of an unknown price has an unknown cost", async () => {
    expect((await withUsage({ prompt_tokens: 1, completion_tokens: 1 }, "acme/other")).costUsd).toBeNull();
  });
  test("needs no key", async () => {
    server.play({ body: sse(chunk({ content: "So" }, "stop"), "[DONE]") });
    await callOf(providerFor(server.baseUrl(), { key: null }));
    expect(server.asked[0]?.headers.authorization).toBeUndefined();
  });
});

describe("a cancelled call", () => {
  test("stops at once and sends no more deltas", async () => {
    // At once, so that the second word has come before the first is deltas.
    server.play({ body: sse(chunk({ content: "So" }), chunk({ content: " what" })).join(""), after: "hold" });
    const abort = new AbortController();
    const deltas: string[] = [];
    const call = providerFor(server.baseUrl()).call(requestFor(), {
      signal: abort.signal,
      onDelta: (text) => {
        deltas.push(text);
        abort.abort();
      },
    });
    expect(await failureOf(call)).toMatchObject({ type: "cancelled", recoverable: false });
    expect(deltas).toEqual(["So"]);
  });

  test("before anything has arrived", async () => {
    server.play({ after: "hold" });
    const abort = new AbortController();
    const asked = server.nextAsked();
    const call = callOf(providerFor(server.baseUrl()), requestFor(), abort.signal);
    call.catch(() => {});
    await asked;
    abort.abort();
    expect(await failureOf(call)).toMatchObject({ type: "cancelled" });
  });

  test("before its request, sends none", async () => {
    expect(await failureOf(callOf(providerFor(server.baseUrl()), requestFor(), AbortSignal.abort()))).toMatchObject({
      type: "cancelled",
    });
    expect(server.asked).toEqual([]);
  });
});

test.for([
  { wire: "openai-chat" as const, end: "[DONE]" as const },
  { wire: "openai-responses" as const, end: { type: "response.completed", response: {} } },
])("a connection over $wire that ends after the answer serves another call", async ({ wire, end }) => {
  server.play({ body: sse(end), after: "hold" });
  const provider = providerFor(server.baseUrl(), { wire });
  let isReused = false;
  for (let calls = 0; calls < 50 && !isReused; calls += 1) {
    const before = server.connections();
    await callOf(provider);
    server.release();
    isReused = server.connections() === before;
    // Lets the sent bytes arrive.
    await new Promise(setImmediate);
  }
  expect(isReused).toBe(true);
});
