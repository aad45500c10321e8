/** Tests the parts that no single wire format owns: keys, the list of calls, models, local servers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { writeScenario } from "../scenario-file.ts";
import { tempFolder } from "../temp-folder.ts";
import { post, saying, startServer } from "./fixture.ts";
import type { ModelServer } from "./start-model-server.ts";

const scenario = saying({ text: "yes", repeat: true });
const chat = { model: "gpt-4.1", messages: [{ role: "user", content: "hello" }] };
const get = async (server: ModelServer, address: string, headers: Record<string, string> = {}) =>
  (await fetch(server.url + address, { headers })).json();

test("every request is listed, without its secrets", async (context) => {
  const server = await startServer(context, { scenario, apiKey: "sk-canary" });
  const first = server.waitForCalls(1);
  await post(server, "/v1/chat/completions", chat, { authorization: "Bearer sk-canary", "x-mine": "kept" });
  await post(server, "/v1/messages", {}, { "anthropic-version": "1", "x-api-key": "sk-canary" });

  expect(await first).toMatchObject([{ number: 1 }, { number: 2 }]);
  expect(server.calls()).toMatchObject([
    {
      number: 1,
      method: "POST",
      path: "/v1/chat/completions",
      body: chat,
      status: 200,
      outcome: "answered",
      headers: { "x-mine": "kept" },
    },
    { number: 2, path: "/v1/messages", status: 400, outcome: "refused", identity: null },
  ]);
  expect(JSON.stringify(server.calls())).not.toContain("canary");
});

test("a client that disconnects is noticed", async (context) => {
  const server = await startServer(context, { scenario: saying({ text: "later", latencyMs: 3_600_000 }) });
  const abort = new AbortController();
  const asked = fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify(chat),
    signal: abort.signal,
  });
  await server.waitForCalls(1);
  abort.abort();
  await expect(asked).rejects.toThrow();
  await server.waitUntil(([call]) => call?.outcome === "lost");
});

test("an unknown path is not found, in the format of its API", async (context) => {
  const server = await startServer(context, { scenario });
  expect(await get(server, "/v1/nothing")).toMatchObject({ error: { type: "invalid_request_error" } });
  expect(await get(server, "/v1/nothing", { "anthropic-version": "1" })).toMatchObject({
    type: "error",
    error: { type: "not_found_error" },
  });
});

test("custom models are known", async (context) => {
  const own = {
    id: "tiny",
    vendor: "local" as const,
    contextTokens: 5,
    outputTokensMax: 5,
    thinking: "none" as const,
  };
  const server = await startServer(context, { scenario, models: ["mine", own] });
  expect((await post(server, "/v1/chat/completions", { ...chat, model: "mine" })).status).toBe(200);
  expect((await post(server, "/v1/chat/completions", { ...chat, model: "tiny" })).status).toBe(400);
  const { data } = await get(server, "/v1/models");
  expect(data).toContainEqual(expect.objectContaining({ id: "tiny", max_model_len: 5 }));
});

test("a local server reports its capabilities and its context window", async (context) => {
  const server = await startServer(context, { scenario, truncateTokens: 4_096 });
  expect(await get(server, "/api/version")).toEqual({ version: expect.any(String) });
  expect((await get(server, "/api/tags")).models).toContainEqual(expect.objectContaining({ name: "qwen3-coder:30b" }));
  const show = async (model: string) => post(server, "/api/show", { model });
  expect(await (await show("qwen3-coder:30b")).json()).toMatchObject({
    capabilities: ["completion", "tools"],
    model_info: { "scripted.context_length": 32_768 },
  });
  expect((await show("none")).status).toBe(404);
  const running = { name: "qwen3-coder:30b", context_length: 4_096 };
  expect((await get(server, "/api/ps")).models).toContainEqual(expect.objectContaining(running));
  const loaded = { id: "qwen/qwen3-coder-30b", max_context_length: 32_768, loaded_context_length: 4_096 };
  expect((await get(server, "/api/v0/models")).data).toContainEqual(expect.objectContaining(loaded));
});

test.for([
  {
    what: "a short conversation",
    characters: 100,
    limit: 100,
    finish: "stop",
    total: null,
    text: /five words for an answer/,
  },
  {
    what: "a conversation longer than the window",
    characters: 20_000,
    limit: 100,
    finish: "length",
    total: 4_096,
    text: /^five$/,
  },
  {
    what: "a conversation whose answer does not fit",
    characters: 16_250,
    limit: 100,
    finish: "length",
    total: 4_096,
    text: /^five words/,
  },
])("a small context window truncates silently: $what", async ({ characters, finish, total, text }, context) => {
  const server = await startServer(context, {
    scenario: saying({ text: `five words for an answer, ${"and more ".repeat(50)}` }),
    truncateTokens: 4_096,
  });
  const response = await post(server, "/v1/chat/completions", {
    model: "qwen3-coder:30b",
    messages: [{ role: "user", content: "x".repeat(characters) }],
  });
  const { choices, usage } = await response.json();
  expect(choices[0]).toMatchObject({ finish_reason: finish, message: { content: expect.stringMatching(text) } });
  if (total !== null) expect(usage.total_tokens).toBe(total);
});

test("the server also runs as a process", async (context) => {
  const file = await writeScenario(await tempFolder("model-server", context), {
    main: [{ steps: [{ text: "from afar" }] }],
  });
  const main = path.join(import.meta.dirname, "main.ts");
  const child = spawn(process.execPath, [main, "--scenario", file, "--port", "0", "--key", "k"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.onTestFinished(() => void child.kill());
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(lines, "line"), ended.then(() => Promise.reject(new Error("it ended")))]);
  const { openaiUrl, url } = JSON.parse(String(line));

  const ask = (key: string) =>
    fetch(`${openaiUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(chat),
    });
  expect((await ask("other")).status).toBe(401);
  expect(await (await ask("k")).json()).toMatchObject({ choices: [{ message: { content: "from afar" } }] });
  expect(await (await fetch(`${url}/calls`)).json()).toMatchObject([{ status: 401 }, { status: 200 }, {}]);
  child.kill("SIGTERM");
  const [code] = await ended;
  expect(code).toBe(0);
});
