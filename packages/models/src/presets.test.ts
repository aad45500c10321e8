import { findProvider } from "@pydantic/genai-prices";
import { describe, expect, test } from "vitest";
import {
  baseUrlFrom,
  isPresetId,
  knownTiers,
  type PresetId,
  type PresetOverrides,
  presetSettings,
  presets,
} from "./presets.ts";

describe("settings of each preset:", () => {
  test.for([
    { id: "anthropic", wire: "anthropic", baseUrl: null, keyVariable: "ANTHROPIC_API_KEY", isLocal: false },
    { id: "openai", wire: "openai-responses", baseUrl: null, keyVariable: "OPENAI_API_KEY", isLocal: false },
    {
      id: "ollama",
      wire: "openai-chat",
      baseUrl: "http://127.0.0.1:11434/v1",
      keyVariable: "OLLAMA_API_KEY",
      isLocal: true,
    },
    {
      id: "lmstudio",
      wire: "openai-chat",
      baseUrl: "http://127.0.0.1:1234/v1",
      keyVariable: "LM_API_TOKEN",
      isLocal: true,
    },
    {
      id: "vllm",
      wire: "openai-chat",
      baseUrl: "http://127.0.0.1:8000/v1",
      keyVariable: "VLLM_API_KEY",
      isLocal: true,
    },
    {
      id: "openrouter",
      wire: "openai-chat",
      baseUrl: "https://openrouter.ai/api/v1",
      keyVariable: "OPENROUTER_API_KEY",
      isLocal: false,
    },
    {
      id: "deepseek",
      wire: "openai-chat",
      baseUrl: "https://api.deepseek.com/v1",
      keyVariable: "DEEPSEEK_API_KEY",
      isLocal: false,
    },
  ] as const)("$id", (expected) => {
    expect(presetSettings(expected.id)).toMatchObject({ ...expected, key: null, headers: {}, models: {} });
  });

  test("there is no other preset", () => {
    expect(Object.keys(presets).filter(isPresetId)).toHaveLength(7);
    expect(isPresetId("constructor")).toBe(false);
  });
});

test("Ollama gets one call at a time, and time to load a model", () => {
  expect(presetSettings("ollama").limits).toEqual({
    concurrency: 1,
    requestsPerMinute: null,
    tokensPerMinute: null,
    idleTimeoutMs: 290_000,
  });
  expect(presetSettings("ollama", { limits: { concurrency: 4 } }).limits).toMatchObject({
    concurrency: 4,
    idleTimeoutMs: 290_000,
  });
});

test("overrides win", () => {
  const overrides = {
    id: "work",
    key: "k",
    headers: { "x-a": "b" },
    models: { m: { contextTokens: 9 } },
    isLocal: true,
  };
  expect(presetSettings("openai", overrides)).toMatchObject({
    ...overrides,
    wire: "openai-responses",
    keyVariable: "OPENAI_API_KEY",
  });
});

test.for([
  { baseUrl: "http://127.0.0.1:8080/v1/", wire: "openai-chat", normalized: "http://127.0.0.1:8080/v1" },
  { baseUrl: "https://eu.api.openai.com/v1", wire: "openai-responses", normalized: "https://eu.api.openai.com/v1" },
  {
    baseUrl: "https://openai.com.example.org/v1",
    wire: "openai-chat",
    normalized: "https://openai.com.example.org/v1",
  },
])("OpenAI at $baseUrl uses $wire", ({ baseUrl, wire, normalized }) => {
  expect(presetSettings("openai", { baseUrl })).toMatchObject({ wire, baseUrl: normalized });
  expect(presetSettings("openai", { baseUrl, wire: "openai-responses" }).wire).toBe("openai-responses");
});

describe("invalid settings are refused, without showing the key:", () => {
  test.for<[PresetOverrides, string]>([
    [{ baseUrl: "localhost:1" }, "ollama.baseUrl: must be an http:// or https:// URL"],
    [{ id: "a/b" }, "ollama.id: must be lower-case letters, digits and dashes"],
    [{ limits: { concurrency: 0 } }, "ollama.limits.concurrency: Too small"],
    [{ apiKey: "canary" } as PresetOverrides, 'ollama: Unrecognized key: "apiKey"'],
  ])("%j", ([overrides, message]) => {
    expect(() => presetSettings("ollama", overrides)).toThrow(message);
  });
});

describe("the value of an environment variable as a base URL:", () => {
  test.for<[PresetId, string, string]>([
    ["ollama", "127.0.0.1:9999", "http://127.0.0.1:9999/v1"],
    ["ollama", "0.0.0.0", "http://127.0.0.1:11434/v1"],
    ["ollama", ":8080", "http://127.0.0.1:8080/v1"],
    ["ollama", "gpu.local", "http://gpu.local:11434/v1"],
    ["ollama", "http://gpu.local", "http://gpu.local/v1"],
    ["ollama", "https://gpu.local:444/ollama/", "https://gpu.local:444/ollama/v1"],
    ["ollama", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"],
    ["openai", " http://127.0.0.1:1/v1 ", "http://127.0.0.1:1/v1"],
  ])("%s %s", ([preset, value, url]) => {
    expect(baseUrlFrom(preset, value)).toBe(url);
  });
});

test.for(Object.entries(knownTiers))(
  "the price of every model that %s offers by size is known",
  ([provider, tiers]) => {
    const priced = findProvider({ providerId: provider })?.models.map(({ id }) => id);
    for (const model of Object.values(tiers)) expect(priced, model).toContain(model);
  },
);
