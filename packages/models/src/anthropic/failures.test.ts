import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  ask,
  failing,
  failureOf,
  key,
  options,
  prices,
  provide,
  refusing,
  saying,
  settings,
  sse,
  start,
  startWire,
  stop,
  streaming,
  text,
} from "./anthropic-server.test-helper.ts";
import { createAnthropicProvider } from "./provider.ts";

describe("a failure", () => {
  const error = (type: string, message = "no") => ({ type, message });

  test.each([
    [400, error("invalid_request_error"), { type: "params", recoverable: false }],
    [401, error("authentication_error", "invalid x-api-key"), { type: "auth", recoverable: false }],
    [402, error("billing_error"), { type: "budget", recoverable: false }],
    [403, error("permission_error"), { type: "permission", recoverable: false }],
    [404, error("not_found_error", "model: claude-x"), { type: "params", recoverable: false }],
    [413, error("request_too_large"), { type: "params", recoverable: false }],
    [429, error("rate_limit_error"), { type: "rate_limit", recoverable: true }],
    [500, error("api_error"), { type: "network", recoverable: true }],
    [503, error("api_error"), { type: "rate_limit", recoverable: true }],
    [529, error("overloaded_error"), { type: "rate_limit", recoverable: true }],
  ] as const)("with status %i, before any work", async (status, body, expected) => {
    expect(await failing(refusing(status, body))).toMatchObject({ ...expected, begun: false });
  });

  test("of a spent budget is recognized by its message", async () => {
    const low = error("invalid_request_error", "Your credit balance is too low to access the Anthropic API.");
    expect(await failing(refusing(400, low))).toMatchObject({ type: "budget", recoverable: false });
    const cap = { ...error("rate_limit_error"), details: { error_code: "enforced_spend_limit_reached" } };
    expect(await failing(refusing(429, cap))).toMatchObject({ type: "budget", recoverable: false });
  });

  test.each([
    ["in seconds", { "retry-after": "12" }, 12_000],
    ["in milliseconds", { "retry-after-ms": "1500", "retry-after": "2" }, 1_500],
    ["as a date", { "retry-after": "Wed, 18 Nov 2026 10:00:30 GMT" }, 30_000],
    ["not at all", {}, null],
    ["in words", { "retry-after": "soon" }, null],
  ])("has the time to wait, given %s", async (_, headers, retryAfterMs) => {
    const failure = await failing(refusing(429, error("rate_limit_error"), headers as Record<string, string>));
    expect(failure.retryAfterMs).toBe(retryAfterMs);
  });

  test("of a key says which variable to export, and never shows the key", async () => {
    const failure = await failing(refusing(401, error("authentication_error", `invalid key ${key}`)));
    expect(failure.message).toBe(
      'anthropic: invalid key [key] (HTTP 401, authentication_error); check the key of "anthropic": export ANTHROPIC_API_KEY=…',
    );
    const none = await failing(refusing(401, error("authentication_error")), { key: null });
    expect(none.message).toContain('no key is set for "anthropic": export ANTHROPIC_API_KEY=…');
  });

  test("of a key that no header can carry does not show it", async () => {
    const failure = await failing(saying("a"), { key: `${key}\n${key}` });
    expect(failure).toMatchObject({ type: "auth", recoverable: false, begun: false });
  });

  test("of an unknown model names the command that lists models", async () => {
    const failure = await failing(refusing(404, error("not_found_error", "model: claude-x")));
    expect(failure.message).toContain("model: claude-x");
    expect(failure.message).toContain("troupe models ls");
  });

  test.each([
    ["overloaded_error", { type: "rate_limit", recoverable: true }],
    ["rate_limit_error", { type: "rate_limit", recoverable: true }],
    ["api_error", { type: "network", recoverable: true }],
    ["invalid_request_error", { type: "params", recoverable: false }],
    ["an error of tomorrow", { type: "network", recoverable: true }],
  ])("inside a stream that had begun, %s, may be charged", async (type, expected) => {
    const answer = streaming(start(), ...text(0, "Hal"), { type: "error", error: error(type, "Sorry") });
    expect(await failing(answer)).toMatchObject({
      ...expected,
      begun: true,
      message: expect.stringContaining("Sorry"),
    });
  });

  test("as the first event of a stream is not charged", async () => {
    const answer = streaming({ type: "error", error: error("overloaded_error") });
    expect(await failing(answer)).toMatchObject({ type: "rate_limit", recoverable: true, begun: false });
  });

  test("is a single short line", async () => {
    const { message } = await failing(refusing(400, error("invalid_request_error", "too\nmuch ".repeat(1_000))));
    expect(message).not.toContain("\n");
    expect(message.length).toBeLessThan(600);
    const silent = await failing((response) => void response.writeHead(502).end());
    expect(silent).toMatchObject({ type: "network", recoverable: true, begun: false });
  });

  test.each([
    ["before the end of the message", sse([start(), ...text(0, "Half of")])],
    ["in the middle of an event", sse([start(), ...text(0, "Half of")]).slice(0, -40)],
  ])("of a stream that ends %s is thrown", async (_, body) => {
    const failure = await failing(streaming(body));
    expect(failure).toMatchObject({ type: "network", recoverable: true, begun: true });
  });

  test("of a connection that breaks during the answer is thrown", async () => {
    const failure = await failing(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      await new Promise((resolve) => response.write(sse([start(), ...text(0, "Half of")]), resolve));
      response.destroy();
    });
    expect(failure).toMatchObject({ type: "network", recoverable: true, begun: true });
  });

  test("of a connection that breaks before the answer may be charged", async () => {
    const failure = await failing((response) => void response.destroy());
    expect(failure).toMatchObject({ type: "network", recoverable: true, begun: true });
  });

  test("of a missing server is not charged", async () => {
    const { url, close } = await startWire();
    await close();
    const provider = createAnthropicProvider({ settings: settings({ baseUrl: url }), prices });
    expect(await failureOf(provider.call(ask(), options()))).toMatchObject({
      type: "network",
      recoverable: true,
      begun: false,
      message: expect.stringMatching(/cannot connect to http:.*ECONNREFUSED/),
    });
  });

  test("after the end of an answer is ignored", async () => {
    const { provider } = await provide(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      await new Promise((resolve) => response.write(sse([start(), ...text(0, "Whole."), ...stop()]), resolve));
      response.destroy();
    });
    expect((await provider.call(ask(), options())).text).toBe("Whole.");
  });
});

describe("a server of another kind", () => {
  const body = (kind: string, content: string | Buffer, more: Record<string, string> = {}): Answer => {
    return (response) => {
      response.writeHead(200, { ...(kind ? { "content-type": kind } : {}), ...more });
      response.end(content);
    };
  };

  test.each<[string, Answer]>([
    ["a page", body("text/html", "<html><body>Welcome</body></html>")],
    ["a whole message", body("application/json", JSON.stringify(start().message))],
    ["broken JSON", body("application/json", "{")],
    ["nothing", body("text/event-stream", "")],
    ["nothing, of no kind", body("", "")],
    ["words", body("text/event-stream", "hello there\n\n")],
    ["events without JSON", body("text/event-stream", "data: hello\n\n")],
    ["events of another wire", body("text/event-stream", 'data: {"choices":[]}\n\ndata: [DONE]\n\n')],
    ["events of another shape", body("text/event-stream", sse([{ type: "message_start", message: 7 }]))],
    ["an end without a beginning", body("text/event-stream", sse([...text(0, "a")]))],
    ["garbage", body("text/event-stream", "garbage that is not packed", { "content-encoding": "gzip" })],
  ])("that sends %s is reported with a fix, and not retried", async (_, answer) => {
    const failure = await failing(answer);
    expect(failure).toMatchObject({ type: "params", recoverable: false });
    expect(failure.message).toContain('check the base URL of "anthropic"');
  });

  test("that compresses its answer is understood", async () => {
    const packed = gzipSync(sse([start(), ...text(0, "Packed."), ...stop()]));
    const { provider } = await provide(body("text/event-stream", packed, { "content-encoding": "gzip" }));
    expect((await provider.call(ask(), options())).text).toBe("Packed.");
  });

  test("that sends an error with status 200 is understood", async () => {
    const overloaded = JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
    expect(await failing(body("application/json", overloaded))).toMatchObject({
      type: "rate_limit",
      recoverable: true,
    });
  });

  test("without this API is reported with its URL", async () => {
    const failure = await failing(refusing(404, "<h1>Not Found</h1><script>alert(1)</script>"), {});
    expect(failure).toMatchObject({ type: "params", recoverable: false });
    expect(failure.message).toMatch(/Not Found; there is no Messages API at http:\/\/127.0.0.1:\d+\/v1\/messages/);
    expect(failure.message).not.toContain("alert");
  });

  test.each([301, 302, 307, 308])("that redirects (%i) is not followed", async (status) => {
    const elsewhere = await startWire(saying("caught"));
    const failure = await failing(refusing(status, "moved", { location: `${elsewhere.url}/v1/messages` }));
    expect(failure).toMatchObject({ type: "params", recoverable: false, begun: false });
    expect(failure.message).toContain(elsewhere.url);
    expect(elsewhere.asked).toEqual([]);
  });

  test("that never ends is given up, and its connection is closed", async () => {
    const megabyte = `: ${"x".repeat(1024 * 1024)}\n`;
    let close = (): void => {};
    const closed = new Promise<void>((resolve) => (close = resolve));
    const failure = await failing(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.on("close", close);
      while (!response.closed) await new Promise((resolve) => response.write(megabyte, resolve));
    });
    expect(failure.message).toContain("more than 67108864 bytes");
    await closed;
  });

  test.each(["no address", "ftp://127.0.0.1", "http://127.0.0.1:1", "localhost:11434"])(
    "at the invalid URL %j is reported",
    async (baseUrl) => {
      const provider = createAnthropicProvider({ settings: settings({ baseUrl }), prices });
      const failure = await failureOf(provider.call(ask(), options()));
      expect(failure).toMatchObject({ type: "params", recoverable: false, begun: false });
      expect(failure.message).toContain(baseUrl);
    },
  );

  test("with a password in its URL does not show it", async () => {
    const provider = createAnthropicProvider({ settings: settings({ baseUrl: "http://me:hush@127.0.0.1:1" }), prices });
    expect((await failureOf(provider.call(ask(), options()))).message).not.toContain("hush");
  });
});
