/** Refusals of servers in all their formats, with fixes and without the key. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createSimulatedClock } from "@troupe/core/memory";
import { afterEach, describe, expect, test } from "vitest";
import type { ProviderSettings } from "../settings.ts";
import {
  callOf,
  chunk,
  failureOf,
  prices,
  providerFor,
  requestFor,
  secretKey,
  settingsFor,
  sse,
  usePlayServer,
} from "./openai-server.test-helper.ts";
import { createOpenAiProvider } from "./provider.ts";

const server = usePlayServer();
const json = { "content-type": "application/json" };

async function refusedCall(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
  settings: Partial<ProviderSettings> = {},
) {
  server.play({
    status,
    headers: { ...json, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const error = await failureOf(callOf(providerFor(server.baseUrl(), settings)));
  expect(error.begun).toBe(false);
  expect(JSON.stringify(error)).not.toContain(secretKey);
  expect(server.asked).toHaveLength(1);
  return error;
}

describe("a refusal has a type and a fix:", () => {
  test.for([
    {
      status: 401,
      error: {
        message: `Incorrect API key provided: ${secretKey}. You can find yours…`,
        type: "invalid_request_error",
        code: "invalid_api_key",
      },
      type: "auth",
      says: "acme: Incorrect API key provided: [key]. You can find yours… (HTTP 401, invalid_api_key); the key is not accepted: export ACME_API_KEY=…",
    },
    {
      status: 404,
      error: { message: "The model `m-1` does not exist", code: "model_not_found" },
      type: "params",
      says: "acme: The model `m-1` does not exist; list the available models: troupe models ls",
    },
    {
      status: 400,
      error: { message: "This model's maximum context length is 8192 tokens.", code: "context_length_exceeded" },
      type: "params",
      says: "start a new one, pass less, or choose a model with a larger window",
    },
    {
      status: 429,
      error: { message: "You exceeded your current quota", code: "insufficient_quota" },
      type: "budget",
      says: "add credit or raise its limit",
    },
    {
      status: 402,
      error: { message: "Insufficient Balance", code: "invalid_request_error" },
      type: "budget",
      says: "add credit or raise its limit",
    },
    {
      status: 403,
      error: { message: "Country not supported", code: "unsupported_country_region_territory" },
      type: "permission",
      says: "HTTP 403",
    },
    {
      status: 400,
      error: { message: "registry.ollama.ai/library/gemma:2b does not support tools", type: "api_error" },
      type: "params",
      says: "agents need a model that can call tools: choose another model than m-1",
    },
    {
      status: 404,
      error: { message: "No endpoints found that support tool use.", code: 404 },
      type: "params",
      says: "agents need a model that can call tools",
    },
    {
      status: 400,
      error: { message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set' },
      type: "params",
      says: "start vLLM with `--enable-auto-tool-choice --tool-call-parser NAME`",
    },
    {
      status: 500,
      error: { message: "model requires more system memory (9.1 GiB) than is available (7.0 GiB)" },
      type: "params",
      says: "choose a smaller model",
    },
    {
      status: 422,
      error: { message: "bad", code: "unprocessable" },
      type: "params",
      says: "acme: bad (HTTP 422, unprocessable)",
    },
  ])("HTTP $status, $error.message", async ({ status, error, type, says }) => {
    const failure = await refusedCall(status, { error });
    expect(failure).toMatchObject({ type, recoverable: false });
    expect(failure.message).toContain(says);
  });

  test("no key at all", async () => {
    const failure = await refusedCall(401, { error: { message: "Missing bearer" } }, {}, { key: null });
    expect(failure.message).toContain("no key is set: export ACME_API_KEY=…");
  });

  test("a model that Ollama has not fetched", async () => {
    const provider = providerFor(server.baseUrl(), { id: "ollama" });
    server.play({
      status: 404,
      headers: json,
      body: JSON.stringify({ error: { message: 'model "qwen3" not found, try pulling it first' } }),
    });
    const error = await failureOf(callOf(provider, requestFor({ model: "ollama/qwen3" })));
    expect(error.message).toContain("fetch it with `ollama pull qwen3`");
  });
});

describe("a transient failure is recoverable, with the time to wait:", () => {
  test.for([
    { headers: { "retry-after": "7" }, waitMs: 7_000 },
    { headers: { "retry-after": "0.25" }, waitMs: 250 },
    { headers: { "retry-after-ms": "1500", "retry-after": "7" }, waitMs: 1_500 },
    { headers: { "retry-after": "Thu, 01 Jan 1970 00:00:09 GMT" }, waitMs: 9_000 },
    { headers: { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m0.5s" }, waitMs: 60_500 },
    {
      headers: {
        "x-ratelimit-remaining-requests": "5",
        "x-ratelimit-reset-requests": "1h",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "120ms",
      },
      waitMs: 120,
    },
    { headers: { "retry-after": "soon" }, waitMs: null },
    { headers: {}, waitMs: null },
  ])("$headers", async ({ headers, waitMs }) => {
    const clock = createSimulatedClock();
    server.play({
      status: 429,
      headers: { ...json, ...headers } as Record<string, string>,
      body: JSON.stringify({ error: { message: "slow down", code: "rate_limit_exceeded" } }),
    });
    const error = await failureOf(
      callOf(createOpenAiProvider({ settings: settingsFor(server.baseUrl()), prices, clock })),
    );
    expect(error).toMatchObject({ type: "rate_limit", recoverable: true, retryAfterMs: waitMs, begun: false });
  });

  test.for([500, 502, 503, 529, 408, 409])("HTTP %i", async (status) => {
    expect(await refusedCall(status, { error: { message: "oh" } })).toMatchObject({ recoverable: true });
  });

  test.for([
    { body: { detail: "Not now" }, says: "acme: Not now (HTTP 503)" },
    { body: { error: "Not now" }, says: "acme: Not now (HTTP 503)" },
    { body: { object: "error", message: "Not now", type: "Busy" }, says: "acme: Not now (HTTP 503, Busy)" },
    {
      body: "<html><head><title>503 Not now</title></head><body>…</body></html>",
      says: "acme: 503 Not now (HTTP 503)",
    },
    {
      body: { error: { message: "Provider returned error", metadata: { raw: "Not now" } } },
      says: "acme: Provider returned error: Not now (HTTP 503)",
    },
    { body: "", says: "acme: the server gave no reason (HTTP 503)" },
    { body: { error: { message: "long ".repeat(1_000) } }, says: "…" },
  ])("from the body $body", async ({ body, says }) => {
    const error = await refusedCall(503, body);
    expect(error.message).toContain(says);
    expect(error.message.length).toBeLessThan(600);
  });
});

describe("a server of another kind is recognized:", () => {
  test.for([
    {
      what: "a page",
      played: { headers: { "content-type": "text/html" }, body: "<title>Welcome</title>" },
      says: "it answered with text/html instead of a stream of events: Welcome",
    },
    {
      what: "JSON",
      played: { headers: json, body: '{"ok":true}' },
      says: "it answered with application/json instead of a stream of events",
    },
    { what: "an empty object", played: { headers: json, body: "" }, says: "it answered with application/json" },
  ])("$what behind a 200", async ({ played, says }) => {
    server.play(played);
    const error = await failureOf(callOf(providerFor(server.baseUrl())));
    expect(error).toMatchObject({ type: "params", recoverable: false });
    expect(error.message).toContain(says);
    expect(error.message).toContain("check the base URL of the OpenAI-compatible API");
  });

  test("an error behind a 200", async () => {
    server.play({ headers: json, body: JSON.stringify({ error: { message: "slow down", code: 429 } }) });
    expect(await failureOf(callOf(providerFor(server.baseUrl())))).toMatchObject({ type: "rate_limit", begun: false });
  });

  test("an unknown path", async () => {
    const error = await refusedCall(
      404,
      "404 page not found",
      { "content-type": "text/plain" },
      { baseUrl: server.baseUrl().replace("/v1", "") },
    );
    expect(error.message).toMatch(/there is no API at http:\/\/127\.0\.0\.1:\d+: .*most end with \/v1/);
  });

  test("no server", async () => {
    const error = await failureOf(callOf(providerFor(await closedAddress(), { isLocal: true })));
    expect(error).toMatchObject({ type: "network", recoverable: true, begun: false });
    expect(error.message).toMatch(
      /^acme: no connection to http:\/\/127\.0\.0\.1:\d+\/v1 \(ECONNREFUSED\); is the server running\?$/,
    );
  });

  test("one without HTTPS: no work had begun, and the fix is given", async () => {
    const address = server.baseUrl().replace("http:", "https:");
    const error = await failureOf(callOf(providerFor(address)));
    expect(error).toMatchObject({ type: "network", recoverable: true, begun: false });
    expect(error.message).toContain("use an http://… base URL");
  });

  test("an invalid URL is not retried", async () => {
    const error = await failureOf(callOf(providerFor("http://127.0.0.1:1/v1")));
    expect(error).toMatchObject({ type: "params", recoverable: false, begun: false });
    expect(error.message).toContain("check the base URL");
  });

  test("one that closes the connection without an answer may have worked", async () => {
    const rude = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => rude.listen(0, "127.0.0.1", resolve));
    const error = await failureOf(callOf(providerFor(`http://127.0.0.1:${(rude.address() as AddressInfo).port}/v1`)));
    expect(error).toMatchObject({ type: "network", recoverable: true, begun: true });
    await new Promise((resolve) => rude.close(resolve));
  });
});

describe("a value that no header can carry is not sent, and the failure names it:", () => {
  test.for([
    {
      what: "a key",
      settings: { key: `${secretKey}\nX-Evil: 1` },
      type: "auth",
      says: "the key contains a character that cannot be sent",
    },
    { what: "a header", settings: { headers: { "x-team": "a\nb" } }, type: "params", says: "header x-team" },
  ])("$what", async ({ settings, type, says }) => {
    const error = await failureOf(callOf(providerFor(server.baseUrl(), settings)));
    expect(error).toMatchObject({ type, recoverable: false, begun: false });
    expect(error.message).toContain(says);
    expect(error.message).not.toContain(secretKey);
    expect(server.asked).toEqual([]);
  });
});

describe("an endless response is cut off:", () => {
  /** Sends this as fast as it is taken, until the connection is closed. */
  async function endless(status: number, contentType: string, start: string) {
    const flood = createServer((_, response) => {
      response.writeHead(status, { "content-type": contentType });
      response.write(start);
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(1 << 16)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });
    await new Promise<void>((resolve) => flood.listen(0, "127.0.0.1", resolve));
    const error = await failureOf(callOf(providerFor(`http://127.0.0.1:${(flood.address() as AddressInfo).port}/v1`)));
    flood.closeAllConnections();
    await new Promise((resolve) => flood.close(resolve));
    return error;
  }

  test.for([
    {
      what: "an event",
      status: 200,
      contentType: "text/event-stream",
      start: "data: ",
      says: "more than 67108864 bytes",
    },
    { what: "a page", status: 200, contentType: "text/html", start: "<p>", says: "it answered with text/html" },
    { what: "a refusal", status: 400, contentType: "application/json", start: '{"error":"', says: "(HTTP 400)" },
  ])("$what", { timeout: 60_000 }, async ({ status, contentType, start, says }) => {
    const error = await endless(status, contentType, start);
    expect(error).toMatchObject({ type: "params", recoverable: false });
    expect(error.message).toContain(says);
    expect(error.message.length).toBeLessThan(1_000);
  });
});

test("broken compression is a failure", async () => {
  server.play({ headers: { "content-encoding": "gzip" }, body: "no gzip" });
  const error = await failureOf(callOf(providerFor(server.baseUrl())));
  expect(error).toMatchObject({ type: "params", recoverable: false });
  expect(error.message).toContain("bytes that cannot be decompressed");
});

describe("the key goes nowhere else:", () => {
  test.for([301, 302, 307, 308])("a redirect (%i) is not followed", async (status) => {
    const elsewhere: unknown[] = [];
    const thief = createServer((request, response) => {
      elsewhere.push(request.headers.authorization);
      response.end();
    });
    await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve));
    const location = `http://127.0.0.1:${(thief.address() as AddressInfo).port}/v1/chat/completions?token=abcdefgh`;
    const error = await refusedCall(status, "", { location });
    expect(error).toMatchObject({ type: "params", recoverable: false });
    expect(error.message).toContain("which is not followed");
    expect(error.message).not.toContain("abcdefgh");
    expect(elsewhere).toEqual([]);
    await new Promise((resolve) => thief.close(resolve));
  });

  test("not into a message, in any form that a server echoes", async () => {
    const headers = { "x-tenant-token": "tenant-canary-42" };
    const echoes = [
      secretKey,
      encodeURIComponent(secretKey),
      "sk-cana****cdef",
      "tenant-canary-42",
      `Bearer ${secretKey}`,
    ];
    const error = await refusedCall(400, { error: { message: echoes.join(" "), code: secretKey } }, {}, { headers });
    expect(error.message).toBe("acme: [key] [key] [key] [key] Bearer [key] (HTTP 400, [key])");
  });

  test("nor the secrets of a URL", async () => {
    const address = `${server.baseUrl()}?secret=query-canary`;
    server.play({ status: 302, headers: { location: "/elsewhere" } });
    expect((await failureOf(callOf(providerFor(address)))).message).not.toContain("query-canary");
    const withPassword = await failureOf(callOf(providerFor(server.baseUrl().replace("//", "//me:password-canary@"))));
    expect(withPassword.message).not.toContain("password-canary");
  });
});

describe("the environment changes nothing:", () => {
  const variables = {
    OPENAI_API_KEY: "sk-from-the-environment",
    OPENAI_ADMIN_KEY: "sk-admin-from-the-environment",
    OPENAI_BASE_URL: "http://127.0.0.1:1/v1",
    OPENAI_ORG_ID: "org-from-the-environment",
    OPENAI_PROJECT_ID: "proj-from-the-environment",
    OPENAI_CUSTOM_HEADERS: "x-from-the-environment: yes\nauthorization: Bearer sk-other",
    OPENAI_LOG: "debug",
  };
  afterEach(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
  test.for([{ key: secretKey }, { key: null }])("with the key $key", async ({ key }) => {
    Object.assign(process.env, variables);
    server.play({ body: sse(chunk({ content: "So" }, "stop"), "[DONE]") });
    await callOf(providerFor(server.baseUrl(), { key, headers: { "x-title": "troupe" } }));
    const headers = server.asked[0]?.headers ?? {};
    expect(headers.authorization).toBe(key === null ? undefined : `Bearer ${key}`);
    expect(headers["x-title"]).toBe("troupe");
    expect(JSON.stringify(headers)).not.toMatch(/from-the-environment|stainless/);
  });
});

async function closedAddress(): Promise<string> {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  return `http://127.0.0.1:${port}/v1`;
}
