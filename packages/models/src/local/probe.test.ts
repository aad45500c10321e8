/** What local servers say of their models, over a real socket; and what becomes of those that say nothing. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createSimulatedClock } from "@troupe/core/memory";
import { afterEach, describe, expect, test } from "vitest";
import { trapsOf } from "./local-model.ts";
import { isNearby, probeLocalModel, probeLocalServer } from "./probe.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Page = unknown | ((body: { model?: string }) => unknown);

/** A server with these pages, each an answer or what makes one; undefined: 404. Without pages it never answers. */
async function serve(pages: Record<string, Page> | null) {
  const asked: { path: string; key: string | undefined }[] = [];
  let onAsked = (): void => {};
  const firstAsked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const server = createServer(async (request, response) => {
    asked.push({ path: `${request.method} ${request.url}`, key: request.headers.authorization });
    let text = "";
    for await (const chunk of request) text += chunk;
    onAsked();
    if (pages === null) return;
    const page = pages[`${request.method} ${request.url}`];
    const answer = typeof page === "function" ? page(JSON.parse(text)) : page;
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer ?? { error: "not found" }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, firstAsked, settings: { baseUrl: `${origin}/v1`, key: null }, origin };
}

const shown = (overrides: object = {}) => ({
  capabilities: ["completion", "tools"],
  parameters: "temperature 0.7\nnum_ctx 16384",
  model_info: { "general.architecture": "qwen3", "qwen3.context_length": 40_960 },
  ...overrides,
});

const ollama = (show: Page, running: unknown[] = []) => ({
  "GET /api/version": { version: "0.13.5" },
  "GET /api/tags": { models: [{ name: "qwen3:latest" }] },
  "GET /api/ps": { models: running },
  "POST /api/show": show,
  "GET /v1/models": { data: [{ id: "qwen3:latest" }] },
});

describe("Ollama", () => {
  test("says what a model can do, and what its Modelfile wants", async () => {
    const { settings } = await serve(ollama(shown()));
    expect(await probeLocalServer(settings)).toEqual({
      kind: "ollama",
      version: "0.13.5",
      models: [{ name: "qwen3:latest", tools: true, contextTokens: 16_384, contextTokensMax: 40_960 }],
    });
  });

  test("says what a model is really run with, once it is loaded, whatever else is wanted", async () => {
    const { settings } = await serve(ollama(shown(), [{ name: "qwen3:latest", context_length: 4_096 }]));
    expect(await probeLocalModel(settings, "qwen3")).toMatchObject({ kind: "ollama", model: { contextTokens: 4_096 } });
  });

  test("does not say what it runs a model with that is not loaded: its own default is as good as nothing known", async () => {
    const { settings } = await serve(ollama(shown({ parameters: "" })));
    expect(await probeLocalModel(settings, "qwen3")).toMatchObject({ model: { contextTokens: null } });
  });

  test("is taken at its word only as far as it is one", async () => {
    const { settings } = await serve(
      ollama({ capabilities: "tools", parameters: 7, model_info: [] }, [{ name: "qwen3:latest", context_length: -1 }]),
    );
    expect(await probeLocalModel(settings, "qwen3")).toEqual({
      kind: "ollama",
      model: { name: "qwen3", tools: null, contextTokens: null, contextTokensMax: null },
    });
  });
});

test("LM Studio says with how much of its window a model is loaded", async () => {
  const { settings } = await serve({
    "GET /api/v0/models": {
      data: [
        {
          id: "qwen3",
          type: "llm",
          capabilities: ["tool_use"],
          loaded_context_length: 8_192,
          max_context_length: 131_072,
        },
        { id: "gemma", type: "llm", capabilities: [], max_context_length: 8_192 },
        { id: "nomic", type: "embeddings" },
      ],
    },
    "GET /v1/models": { data: [{ id: "qwen3" }] },
  });
  expect(await probeLocalServer(settings)).toMatchObject({
    kind: "lmstudio",
    models: [
      { name: "qwen3", tools: true, contextTokens: 8_192, contextTokensMax: 131_072 },
      { name: "gemma", tools: false, contextTokens: null },
    ],
  });
});

test("vLLM says how long a conversation may be", async () => {
  const { settings } = await serve({ "GET /v1/models": { data: [{ id: "qwen3", max_model_len: 65_536 }] } });
  expect(await probeLocalModel(settings, "qwen3")).toMatchObject({ kind: "vllm", model: { contextTokens: 65_536 } });
  expect(await probeLocalModel(settings, "other")).toBeNull();
});

test("any other server has at least a list", async () => {
  const { settings, asked } = await serve({ "GET /v1/models": { data: [{ id: "qwen3" }] } });
  expect(await probeLocalServer({ ...settings, key: "k" })).toMatchObject({
    kind: "unknown",
    models: [{ name: "qwen3" }],
  });
  expect(asked.every(({ key }) => key === "Bearer k")).toBe(true);
});

test("OpenRouter says the windows of all its models", async () => {
  const { origin } = await serve({
    "GET /api/v1/models": { data: [{ id: "a/b", context_length: 200_000, supported_parameters: ["tools"] }] },
  });
  expect(await probeLocalModel({ baseUrl: `${origin}/api/v1`, key: null }, "a/b")).toEqual({
    kind: "openrouter",
    model: { name: "a/b", tools: true, contextTokens: 200_000, contextTokensMax: 200_000 },
  });
});

describe("nothing is known, and nothing fails, where", () => {
  test("there is no server", async () => {
    const { settings } = await serve({});
    const [gone] = servers.splice(0);
    await new Promise((resolve) => gone?.close(resolve));
    expect(await probeLocalServer(settings)).toBeNull();
  });

  test("a server says something else", async () => {
    const pages = Object.fromEntries(
      ["/api/version", "/api/tags", "/api/v0/models", "/v1/models"].map((path) => [`GET ${path}`, "<html>"]),
    );
    const { settings } = await serve(pages);
    expect(await probeLocalServer(settings)).toBeNull();
  });

  test("a server does not answer in time", async () => {
    const { settings, firstAsked } = await serve(null);
    const clock = createSimulatedClock();
    const probed = probeLocalServer(settings, { clock, timeoutMs: 1_500 });
    await firstAsked;
    clock.advance(1_500);
    expect(await probed).toBeNull();
  });

  test("there is no address", async () => {
    expect(await probeLocalServer({ baseUrl: null, key: null })).toBeNull();
    expect(await probeLocalServer({ baseUrl: "nowhere", key: null })).toBeNull();
  });
});

describe("the traps of a local model are told with their fix:", () => {
  const model = { name: "qwen3", tools: true, contextTokens: 32_768, contextTokensMax: 40_960 };
  test("there is none in a long window", () => {
    expect(trapsOf({ kind: "ollama" }, model)).toEqual([]);
  });

  test("a short window", () => {
    expect(trapsOf({ kind: "ollama" }, { ...model, contextTokens: 4_096 })).toEqual([
      {
        message:
          "qwen3 is run with no more than 4096 tokens of a conversation, and what is longer is cut off without a word",
        fix: "start it with `OLLAMA_CONTEXT_LENGTH=32768 ollama serve`, or give the model `PARAMETER num_ctx 32768` in a Modelfile",
      },
    ]);
    expect(trapsOf({ kind: "lmstudio" }, { ...model, contextTokens: 4_096, contextTokensMax: 16_384 })[0]?.fix).toBe(
      "load it with `lms load qwen3 --context-length 16384`",
    );
    expect(trapsOf({ kind: "vllm" }, { ...model, contextTokens: 8_192 })[0]?.fix).toContain("--max-model-len 32768");
  });

  test("a window that only the server knows", () => {
    expect(trapsOf({ kind: "ollama" }, { ...model, contextTokens: null })[0]?.message).toContain(
      "often no more than 4096 tokens",
    );
    expect(trapsOf({ kind: "lmstudio" }, { ...model, contextTokens: null })).toEqual([]);
  });

  test("no tools", () => {
    expect(trapsOf({ kind: "ollama" }, { ...model, tools: false })[0]?.message).toContain("cannot call tools");
  });
});

test.for([
  ["http://127.0.0.1:1/v1", true],
  ["http://localhost/v1", true],
  ["http://[::1]:1/v1", true],
  ["http://192.168.1.7/v1", true],
  ["http://172.20.0.1/v1", true],
  ["http://172.32.0.1/v1", false],
  ["http://gpu.local/v1", true],
  ["https://api.openai.com/v1", false],
  ["https://127.0.0.1.example.org/v1", false],
  [null, false],
] as const)("%s is nearby: %s", ([baseUrl, expected]) => {
  expect(isNearby({ baseUrl, isLocal: false })).toBe(expected);
  expect(isNearby({ baseUrl, isLocal: true })).toBe(true);
});
