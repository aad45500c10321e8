/** A conversation that a server has cut off without a word is told apart from a whole one. */
import type { Message, ModelRequest } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { callOf, chunk, failureOf, providerFor, requestFor, sse, usePlayServer } from "./openai-server.test-helper.ts";

const server = usePlayServer();

const prose = "The quick brown fox jumps over the lazy dog, and nobody knows why it does so every day. ";
const long = prose.repeat(400); // 7,200 words

function answer(usage: object, finish = "stop") {
  server.play({ body: sse(chunk({ content: "Sure, here it is" }, finish), { choices: [], usage } as never, "[DONE]") });
}

/** The server answers all questions with the same stream: nothing is known of its windows. */
const local = (models: Record<string, { contextTokens: number }> = {}) =>
  providerFor(server.baseUrl(), { id: "ollama", isLocal: true, models });
const asked = (overrides: Partial<ModelRequest> = {}) =>
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
      what: "one to less than the words that were sent",
      usage: { prompt_tokens: 4_095, completion_tokens: 20 },
      finish: "stop",
      text: long,
    },
    {
      what: "one to next to nothing of them",
      usage: { prompt_tokens: 300, completion_tokens: 20 },
      finish: "stop",
      text: long,
    },
  ])("$what", async ({ usage, finish, text }) => {
    answer(usage, finish);
    const error = await failureOf(callOf(local(), asked({ messages: [{ role: "user", text }] })));
    expect(error).toMatchObject({ type: "params", recoverable: false, begun: true });
    expect(error.message).toMatch(
      /^the context was truncated: the server of m-1 (stopped it after 4096|read no more than (4095|300)) tokens/,
    );
    expect(error.message).toContain("`OLLAMA_CONTEXT_LENGTH=32768 ollama serve`");
  });

  test("one that ends with a window of which something is known", async () => {
    answer({ prompt_tokens: 4_500, completion_tokens: 500 }, "length");
    const request = asked({ messages: [{ role: "user", text: "short" }] });
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
    { what: "an answer to prose, at the fewest tokens that it can have", text: long, tokens: 7_200 },
    {
      what: "to blanks and rules",
      text: `${" ".repeat(50_000)}${"-".repeat(50_000)}${"\n".repeat(10_000)}`,
      tokens: 800,
    },
    {
      what: "to indented JSON, at twice the letters a token that it has",
      text: json,
      tokens: Math.ceil(json.length / 8),
    },
    { what: "to one endless word", text: "a".repeat(100_000), tokens: 3_000 },
    { what: "to Chinese", text: "春眠不觉晓，处处闻啼鸟。".repeat(1_000), tokens: 6_000 },
    { what: "to numbers", text: "1 2 3 4 5 6 7 8 9 0 ".repeat(500), tokens: 5_000 },
  ])("$what", async ({ text, tokens }) => {
    answer({ prompt_tokens: tokens + 5, completion_tokens: 20 });
    expect((await callOf(local(), asked({ messages: [{ role: "user", text }] }))).reply.text).toBe("Sure, here it is");
  });

  test.for([
    {
      what: "one that is cut off by our own limit",
      usage: { prompt_tokens: 3_096, completion_tokens: 1_000 },
      maxOutputTokens: 1_000,
    },
    {
      what: "one that is cut off where no window ends",
      usage: { prompt_tokens: 3_000, completion_tokens: 1_000 },
      maxOutputTokens: 8_000,
    },
  ])("$what", async ({ usage, maxOutputTokens }) => {
    answer(usage, "length");
    const messages: Message[] = [{ role: "user", text: "short" }];
    expect((await callOf(local(), asked({ messages, maxOutputTokens }))).reply.stopReason).toBe("max_tokens");
  });

  test("a short one, whatever figure the server says", async () => {
    answer({ prompt_tokens: 1, completion_tokens: 20 });
    const messages: Message[] = [{ role: "user", text: prose }];
    expect((await callOf(local(), asked({ messages }))).reply.text).toBe("Sure, here it is");
  });

  test("one that comes through a gateway to nobody knows what", async () => {
    answer({ prompt_tokens: 300, completion_tokens: 20 });
    const provider = providerFor(server.baseUrl(), { id: "ollama", isLocal: false });
    expect((await callOf(provider, asked())).reply.text).toBe("Sure, here it is");
  });

  test("one of a server that does not say how much it has read", async () => {
    server.play({ body: sse(chunk({ content: "Sure, here it is" }, "stop"), "[DONE]") });
    expect((await callOf(local(), asked())).reply.text).toBe("Sure, here it is");
  });

  test("one that fits into a window of which something is known, however little the server says that it has read", async () => {
    answer({ prompt_tokens: 300, completion_tokens: 20 });
    expect((await callOf(local({ "m-1": { contextTokens: 100_000 } }), asked())).reply.text).toBe("Sure, here it is");
  });
});

test("a model's window is what its user says, else what its server says", async () => {
  server.play({
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ data: [{ id: "m-1", max_model_len: 65_536 }] }),
  });
  expect(await local({ "m-1": { contextTokens: 9_000 } }).contextOf?.("ollama/m-1")).toBe(9_000);
  expect(server.asked).toEqual([]);
  const provider = local();
  expect(await provider.contextOf?.("ollama/other")).toBeNull();
});

test("what a server says is asked once, however many want to know", async () => {
  server.play({ status: 404 });
  const provider = local();
  const windows = await Promise.all(Array.from({ length: 20 }, () => provider.contextOf?.("ollama/m-1")));
  expect(windows).toEqual(Array(20).fill(null));
  expect(server.asked.length).toBeLessThan(6);
});

test("a hosted model's window is the one that is known of it, and nobody is asked", async () => {
  expect(await providerFor(server.baseUrl()).contextOf?.("acme/priced")).toBe(100_000);
  expect(server.asked).toEqual([]);
});
