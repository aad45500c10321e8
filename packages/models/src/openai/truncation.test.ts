/** A conversation that a server cut silently is detected. */
import type { Message, ModelRequest } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { callOf, chunk, failureOf, providerFor, requestFor, sse, usePlayServer } from "./openai-server.test-helper.ts";

const server = usePlayServer();

const prose = "The quick brown fox jumps over the lazy dog, and it does so every day for unknown reasons. ";
const long = prose.repeat(400); // 7,200 words

function answer(usage: object, finish = "stop") {
  server.play({ body: sse(chunk({ content: "Sure, here it is" }, finish), { choices: [], usage } as never, "[DONE]") });
}

/** The server answers every request with the same stream, so its context windows are unknown. */
const local = (models: Record<string, { contextTokens: number }> = {}) =>
  providerFor(server.baseUrl(), { id: "ollama", isLocal: true, models });
const longRequest = (overrides: Partial<ModelRequest> = {}) =>
  requestFor({ model: "ollama/m-1", messages: [{ role: "user", text: long }], maxOutputTokens: 8_000, ...overrides });

describe("truncated is", () => {
  test.for([
    {
      what: "an answer that ends with the window",
      usage: { prompt_tokens: 4_000, completion_tokens: 96 },
      finish: "length",
      text: "short",
    },
    {
      what: "one with fewer input tokens than words",
      usage: { prompt_tokens: 4_095, completion_tokens: 20 },
      finish: "stop",
      text: long,
    },
    {
      what: "one with nearly no input tokens",
      usage: { prompt_tokens: 300, completion_tokens: 20 },
      finish: "stop",
      text: long,
    },
  ])("$what", async ({ usage, finish, text }) => {
    answer(usage, finish);
    const error = await failureOf(callOf(local(), longRequest({ messages: [{ role: "user", text }] })));
    expect(error).toMatchObject({ type: "params", recoverable: false, begun: true });
    expect(error.message).toMatch(
      /^the context was truncated: the server of m-1 (stopped it after 4096|read no more than (4095|300)) tokens/,
    );
    expect(error.message).toContain("`OLLAMA_CONTEXT_LENGTH=32768 ollama serve`");
  });

  test("one that ends at a known context window", async () => {
    answer({ prompt_tokens: 4_500, completion_tokens: 500 }, "length");
    const request = longRequest({ messages: [{ role: "user", text: "short" }] });
    expect(await failureOf(callOf(local({ "m-1": { contextTokens: 5_000 } }), request))).toMatchObject({
      type: "params",
    });
  });
});

describe("whole is", () => {
  const json = JSON.stringify(
    Array.from({ length: 500 }, (_, i) => ({ id: i, name: `item ${i}`, tags: ["a", "b"] })),
    null,
    2,
  );
  test.for([
    { what: "an answer to prose, at the fewest possible tokens", text: long, tokens: 7_200 },
    {
      what: "to blanks and rules",
      text: `${" ".repeat(50_000)}${"-".repeat(50_000)}${"\n".repeat(10_000)}`,
      tokens: 800,
    },
    {
      what: "to indented JSON, at twice its letters per token",
      text: json,
      tokens: Math.ceil(json.length / 8),
    },
    { what: "to one endless word", text: "a".repeat(100_000), tokens: 3_000 },
    { what: "to Chinese", text: "春眠不觉晓，处处闻啼鸟。".repeat(1_000), tokens: 6_000 },
    { what: "to numbers", text: "1 2 3 4 5 6 7 8 9 0 ".repeat(500), tokens: 5_000 },
  ])("$what", async ({ text, tokens }) => {
    answer({ prompt_tokens: tokens + 5, completion_tokens: 20 });
    expect((await callOf(local(), longRequest({ messages: [{ role: "user", text }] }))).reply.text).toBe(
      "Sure, here it is",
    );
  });

  test.for([
    {
      what: "one that is cut off by our own limit",
      usage: { prompt_tokens: 3_096, completion_tokens: 1_000 },
      maxOutputTokens: 1_000,
    },
    {
      what: "one that is cut off at no context window's end",
      usage: { prompt_tokens: 3_000, completion_tokens: 1_000 },
      maxOutputTokens: 8_000,
    },
  ])("$what", async ({ usage, maxOutputTokens }) => {
    answer(usage, "length");
    const messages: Message[] = [{ role: "user", text: "short" }];
    expect((await callOf(local(), longRequest({ messages, maxOutputTokens }))).reply.stopReason).toBe("max_tokens");
  });

  test("a short one, with any figure of the server", async () => {
    answer({ prompt_tokens: 1, completion_tokens: 20 });
    const messages: Message[] = [{ role: "user", text: prose }];
    expect((await callOf(local(), longRequest({ messages }))).reply.text).toBe("Sure, here it is");
  });

  test("one that comes through a gateway to an unknown server", async () => {
    answer({ prompt_tokens: 300, completion_tokens: 20 });
    const provider = providerFor(server.baseUrl(), { id: "ollama", isLocal: false });
    expect((await callOf(provider, longRequest())).reply.text).toBe("Sure, here it is");
  });

  test("one of a server that sends no usage", async () => {
    server.play({ body: sse(chunk({ content: "Sure, here it is" }, "stop"), "[DONE]") });
    expect((await callOf(local(), longRequest())).reply.text).toBe("Sure, here it is");
  });

  test("one that fits into a known context window, with any figure of the server", async () => {
    answer({ prompt_tokens: 300, completion_tokens: 20 });
    expect((await callOf(local({ "m-1": { contextTokens: 100_000 } }), longRequest())).reply.text).toBe(
      "Sure, here it is",
    );
  });
});

test("a model's context window is the user's figure, else the server's", async () => {
  server.play({
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ data: [{ id: "m-1", max_model_len: 65_536 }] }),
  });
  expect(await local({ "m-1": { contextTokens: 9_000 } }).contextOf?.("ollama/m-1")).toBe(9_000);
  expect(server.asked).toEqual([]);
  const provider = local();
  expect(await provider.contextOf?.("ollama/other")).toBeNull();
});

test("many questions for a context window cause one probe", async () => {
  server.play({ status: 404 });
  const provider = local();
  const windows = await Promise.all(Array.from({ length: 20 }, () => provider.contextOf?.("ollama/m-1")));
  expect(windows).toEqual(Array(20).fill(null));
  expect(server.asked.length).toBeLessThan(6);
});

test("a hosted model's context window is the known one, without a probe", async () => {
  expect(await providerFor(server.baseUrl()).contextOf?.("acme/priced")).toBe(100_000);
  expect(server.asked).toEqual([]);
});
