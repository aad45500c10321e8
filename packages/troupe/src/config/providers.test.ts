/** Providers from variables and the user's file. */
import { describe, expect, test } from "vitest";
import { parseConfig } from "./config-file.ts";
import { readProviders } from "./providers.ts";

function provider(id: string, env: Record<string, string>, file = "") {
  const { providers } = parseConfig(file, "config.yaml").value;
  const all = readProviders(env, { providers, originOf: () => ({ from: "user", where: "config.yaml:1" }) });
  return all.find(({ settings }) => settings.id === id);
}

test.for([
  ["OpenAI itself", {}, "openai-responses", null],
  [
    "OpenAI by its address",
    { OPENAI_BASE_URL: "https://api.openai.com/v1/" },
    "openai-responses",
    "https://api.openai.com/v1",
  ],
  ["a server like it", { OPENAI_BASE_URL: "http://127.0.0.1:8000/v1" }, "openai-chat", "http://127.0.0.1:8000/v1"],
  [
    "a host with a similar name",
    { OPENAI_BASE_URL: "https://api.openai.com.evil.example/v1" },
    "openai-chat",
    "https://api.openai.com.evil.example/v1",
  ],
] as const)("the wire of %s", ([, env, wire, baseUrl]) => {
  expect(provider("openai", { OPENAI_API_KEY: "k", ...env })?.settings).toMatchObject({ wire, baseUrl, key: "k" });
});

test.for([
  ["", "http://127.0.0.1:11434/v1"],
  ["0.0.0.0", "http://127.0.0.1:11434/v1"],
  ["0.0.0.0:9999", "http://127.0.0.1:9999/v1"],
  [":9999", "http://127.0.0.1:9999/v1"],
  ["box.local", "http://box.local:11434/v1"],
  ["http://box.local:9999/", "http://box.local:9999/v1"],
  ["https://box.local", "https://box.local/v1"],
  ["http://[::]:9999", "http://127.0.0.1:9999/v1"],
])("OLLAMA_HOST=%s is %s", ([OLLAMA_HOST = "", baseUrl]) => {
  expect(provider("ollama", { OLLAMA_HOST })?.settings).toMatchObject({ baseUrl, isLocal: true, key: null });
});

describe("a key", () => {
  test("is read from the variable that a file names", () => {
    const file = "providers: {house: {baseUrl: https://house/v1, keyVariable: HOUSE_KEY}}";
    expect(provider("house", { HOUSE_KEY: " k " }, file)).toMatchObject({
      settings: { key: "k", keyVariable: "HOUSE_KEY" },
      keyFrom: "HOUSE_KEY",
    });
    expect(provider("house", {}, file)).toMatchObject({ settings: { key: null }, keyFrom: null, problem: null });
  });

  test("wins over a token, which is sent in another way", () => {
    expect(provider("anthropic", { ANTHROPIC_AUTH_TOKEN: "t" })?.settings).toMatchObject({ key: null, authToken: "t" });
    expect(provider("anthropic", { ANTHROPIC_AUTH_TOKEN: "t", ANTHROPIC_API_KEY: "k" })?.settings).toMatchObject({
      key: "k",
      authToken: null,
    });
  });

  test.for([
    ["sk-one\nX-Evil: 1", "a line break"],
    ["sk-one two", "a space"],
    ["sk-one\u2013two", "a character that is not ASCII"],
    ["sk-one\u0000", "a character that is not ASCII"],
    ['"sk-one"', "quotes"],
    ["'sk-one'", "quotes"],
  ])("that was copied with other characters is never sent, nor shown: %j", ([OPENAI_API_KEY = "", defect]) => {
    const { problem } = provider("openai", { OPENAI_API_KEY, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" }) ?? {};
    expect(problem?.message).toBe(`OPENAI_API_KEY holds ${defect}, which no key contains`);
    expect(JSON.stringify(problem)).not.toContain("sk-one");
  });

  test("is not sent unencrypted to another machine without a warning", () => {
    const warningsAt = (OPENAI_BASE_URL: string, OPENAI_API_KEY = "k") =>
      provider("openai", { OPENAI_BASE_URL, OPENAI_API_KEY })?.warnings;
    expect(warningsAt("http://gpu.house/v1")).toEqual([
      "openai: OPENAI_API_KEY is sent to http://gpu.house without encryption; use https://",
    ]);
    for (const address of ["https://gpu.house/v1", "http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1"]) {
      expect(warningsAt(address), address).toEqual([]);
    }
    expect(warningsAt("http://gpu.house/v1", "")).toEqual([]);
  });
});

describe("a file", () => {
  test("overrides the preset, and a variable overrides the file", () => {
    const file = `
providers:
  ollama: {baseUrl: http://box:1/v1, limits: {concurrency: 4, idleTimeoutMs: 5m}, models: {qwen3: {contextTokens: 32768}}}
`;
    expect(provider("ollama", {}, file)?.settings).toMatchObject({
      baseUrl: "http://box:1/v1",
      limits: { concurrency: 4, idleTimeoutMs: 300_000, requestsPerMinute: null },
      models: { qwen3: { contextTokens: 32_768 } },
    });
    expect(provider("ollama", { OLLAMA_HOST: "127.0.0.1:2" }, file)?.settings.baseUrl).toBe("http://127.0.0.1:2/v1");
    expect(provider("ollama", {})?.settings.limits.concurrency).toBe(1);
  });

  test("can have several of a kind, which variables do not mix up", () => {
    const file = "providers: {work: {preset: openai, baseUrl: https://models.example/v1, keyVariable: WORK_KEY}}";
    const env = { OPENAI_BASE_URL: "http://127.0.0.1:1/v1", WORK_KEY: "w", OPENAI_API_KEY: "o" };
    expect(provider("work", env, file)?.settings).toMatchObject({ baseUrl: "https://models.example/v1", key: "w" });
    expect(provider("openai", env, file)?.settings).toMatchObject({ baseUrl: "http://127.0.0.1:1/v1", key: "o" });
  });
});
