/** Probing local servers over a real socket, also servers that do not answer. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createSimulatedClock } from "@troupe/core/memory";
import { afterEach, describe, expect, test } from "vitest";
import { modelWarnings } from "./local-model.ts";
import { isPrivateServer, probeLocalModel, probeLocalServer } from "./probe.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Page = unknown | ((body: { model?: string }) => unknown);

/** A server with these pages, each an answer or a function that makes one; undefined: 404. Without pages it never answers. */
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
  test("reports capabilities and the context window of the Modelfile", async () => {
    const { settings } = await serve(ollama(shown()));
    expect(await probeLocalServer(settings)).toEqual({
      kind: "ollama",
      version: "0.13.5",
      models: [{ name: "qwen3:latest", tools: true, contextTokens: 16_384, contextTokensMax: 40_960 }],
    });
  });

  test("reports the context window of the loaded model over the Modelfile", async () => {
    const { settings } = await serve(ollama(shown(), [{ name: "qwen3:latest", context_length: 4_096 }]));
    expect(await probeLocalModel(settings, "qwen3")).toMatchObject({ kind: "ollama", model: { contextTokens: 4_096 } });
  });

  test("has an unknown context window for a model that is not loaded and has no num_ctx", async () => {
    const { settings } = await serve(ollama(shown({ parameters: "" })));
    expect(await probeLocalModel(settings, "qwen3")).toMatchObject({ model: { contextTokens: null } });
  });

  test("ignores fields of the wrong type", async () => {
    const { settings } = await serve(
      ollama({ capabilities: "tools", parameters: 7, model_info: [] }, [{ name: "qwen3:latest", context_length: -1 }]),
    );
    expect(await probeLocalModel(settings, "qwen3")).toEqual({
      kind: "ollama",
      model: { name: "qwen3", tools: null, contextTokens: null, contextTokensMax: null },
    });
  });
});

test("LM Studio reports the context window of the loaded model", async () => {
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

test("vLLM reports the context window", async () => {
  const { settings } = await serve({ "GET /v1/models": { data: [{ id: "qwen3", max_model_len: 65_536 }] } });
  expect(await probeLocalModel(settings, "qwen3")).toMatchObject({ kind: "vllm", model: { contextTokens: 65_536 } });
  expect(await probeLocalModel(settings, "other")).toBeNull();
});

test("any other server has a list of models", async () => {
  const { settings, asked } = await serve({ "GET /v1/models": { data: [{ id: "qwen3" }] } });
  expect(await probeLocalServer({ ...settings, key: "k" })).toMatchObject({
    kind: "unknown",
    models: [{ name: "qwen3" }],
  });
  expect(asked.every(({ key }) => key === "Bearer k")).toBe(true);
});

test("OpenRouter reports the context windows of all models", async () => {
  const { origin } = await serve({
    "GET /api/v1/models": { data: [{ id: "a/b", context_length: 200_000, supported_parameters: ["tools"] }] },
  });
  expect(await probeLocalModel({ baseUrl: `${origin}/api/v1`, key: null }, "a/b")).toEqual({
    kind: "openrouter",
    model: { name: "a/b", tools: true, contextTokens: 200_000, contextTokensMax: 200_000 },
  });
});

describe("the result is null, without an error, when", () => {
  test("there is no server", async () => {
    const { settings } = await serve({});
    const [gone] = servers.splice(0);
    await new Promise((resolve) => gone?.close(resolve));
    expect(await probeLocalServer(settings)).toBeNull();
  });

  test("a server returns something else", async () => {
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

describe("warnings of a local model, with their fix:", () => {
  const model = { name: "qwen3", tools: true, contextTokens: 32_768, contextTokensMax: 40_960 };
  test("none for a large context window", () => {
    expect(modelWarnings({ kind: "ollama" }, model)).toEqual([]);
  });

  test("a small context window", () => {
    expect(modelWarnings({ kind: "ollama" }, { ...model, contextTokens: 4_096 })).toEqual([
      {
        message: "qwen3 runs with a context window of only 4096 tokens; Ollama silently cuts longer conversations",
        fix: "start it with `OLLAMA_CONTEXT_LENGTH=32768 ollama serve`, or set `PARAMETER num_ctx 32768` in the model's Modelfile",
      },
    ]);
    expect(
      modelWarnings({ kind: "lmstudio" }, { ...model, contextTokens: 4_096, contextTokensMax: 16_384 })[0]?.fix,
    ).toBe("load it with `lms load qwen3 --context-length 16384`");
    expect(modelWarnings({ kind: "vllm" }, { ...model, contextTokens: 8_192 })[0]?.fix).toContain(
      "--max-model-len 32768",
    );
  });

  test("an unknown context window", () => {
    expect(modelWarnings({ kind: "ollama" }, { ...model, contextTokens: null })[0]?.message).toContain(
      "often only 4096 tokens",
    );
    expect(modelWarnings({ kind: "lmstudio" }, { ...model, contextTokens: null })).toEqual([]);
  });

  test("no tools", () => {
    expect(modelWarnings({ kind: "ollama" }, { ...model, tools: false })[0]?.message).toContain("cannot call tools");
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
] as const)("%s is a private server: %s", ([baseUrl, expected]) => {
  expect(isPrivateServer({ baseUrl, isLocal: false })).toBe(expected);
  expect(isPrivateServer({ baseUrl, isLocal: true })).toBe(true);
});
