import Anthropic from "@anthropic-ai/sdk";
import { ModelReply } from "@troupe/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type Answer,
  ask,
  block,
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
  tool,
  use,
} from "./anthropic-server.test-helper.ts";
import { createAnthropicProvider } from "./provider.ts";

describe("an answer", () => {
  test("is composed of its events, and unknown events are skipped", async () => {
    const { provider } = await provide(
      streaming(
        ": a comment\n\n",
        start(),
        { type: "ping" },
        ...text(0, "Hel", "lo", "."),
        { type: "content_block_start", index: 1, content_block: { type: "hologram", shape: 7 } },
        { type: "content_block_delta", index: 1, delta: { type: "hologram_delta", light: "red" } },
        { type: "content_block_delta", index: 9, delta: { type: "text_delta", text: "of no block" } },
        { type: "something_new", index: "many" },
        ...stop("end_turn"),
      ),
    );
    const deltas: string[] = [];
    const reply = await provider.call(ask(), options({ onDelta: (piece) => deltas.push(piece) }));

    expect(ModelReply.parse(reply)).toEqual(reply);
    expect(deltas).toEqual(["Hel", "lo", "."]);
    expect(reply).toEqual({
      text: "Hello.",
      calls: [],
      stopReason: "end",
      model: "anthropic/claude-sonnet-5-5",
      usage: { inputTokens: 10, outputTokens: 7, cachedTokens: 0, costUsd: 17 / 1_000_000 },
    });
  });

  test("has calls, several at once, with our names of the tools", async () => {
    const names = ["read", "fs.read", `mcp__${"long".repeat(30)}`];
    const { provider, asked } = await provide((response, { body }) => {
      const [, dotted, long] = (body.tools ?? []).map(({ name }) => name);
      return streaming(
        start(),
        ...text(0, "Looking."),
        ...use(1, "toolu_1", "read", '{"pa', 'th":"a"}'),
        ...use(2, "toolu_2", dotted ?? ""),
        ...block(3, { type: "tool_use", id: "toolu_2", name: long, input: { path: "whole" } }),
        ...use(4, "", "unknown", "{}"),
        ...stop("tool_use"),
      )(response, { path: "", headers: {}, body });
    });
    const reply = await provider.call(ask({ tools: names.map((name) => tool(name)) }), options());

    const sent = asked[0]?.body.tools?.map(({ name }) => name) ?? [];
    expect(sent).toHaveLength(names.length);
    for (const name of sent) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(reply.stopReason).toBe("tool_calls");
    expect(reply.calls).toEqual([
      { id: "toolu_1", name: "read", args: { path: "a" }, problem: null },
      { id: "toolu_2", name: "fs.read", args: {}, problem: null },
      { id: "toolu_2_3", name: names[2], args: { path: "whole" }, problem: null },
      { id: "call", name: "unknown", args: {}, problem: null },
    ]);
  });

  test("counts cached tokens once, and thinking as part of the output", async () => {
    const begun = {
      input_tokens: 5,
      cache_read_input_tokens: 1_000,
      cache_creation_input_tokens: 200,
      output_tokens: 1,
    };
    const ended = { ...begun, input_tokens: null, output_tokens: 90, output_tokens_details: { thinking_tokens: 60 } };
    const { provider } = await provide(streaming(start({ usage: begun }), ...text(0, "a"), ...stop("end_turn", ended)));
    const { usage } = await provider.call(ask(), options());

    expect(usage).toEqual({
      inputTokens: 1_205,
      outputTokens: 90,
      cachedTokens: 1_000,
      cacheWriteTokens: 200,
      reasoningTokens: 60,
      costUsd: 1_295 / 1_000_000,
    });
  });

  test.each([
    ["end_turn", "end"],
    ["stop_sequence", "end"],
    ["max_tokens", "max_tokens"],
    ["model_context_window_exceeded", "max_tokens"],
    ["pause_turn", "max_tokens"],
    ["refusal", "refusal"],
    ["a reason of tomorrow", "end"],
    [null, "end"],
  ])("that stopped with %s ends as %s", async (wire, here) => {
    const { provider } = await provide(streaming(start(), ...text(0, "a"), ...stop(wire)));
    expect((await provider.call(ask(), options())).stopReason).toBe(here);
  });

  test("that was cut off inside a call reports it to the model", async () => {
    const { provider } = await provide(
      streaming(start(), ...use(0, "toolu_1", "write", '{"text":"once up'), ...stop("max_tokens")),
    );
    const { calls } = await provider.call(ask(), options());
    expect(calls).toEqual([
      { id: "toolu_1", name: "write", args: null, problem: expect.stringContaining("output token limit") },
    ]);
  });

  test("of a model without a known price has an unknown cost", async () => {
    const { provider } = await provide(streaming(start({ model: "qwen3" }), ...text(0, "a"), ...stop()));
    const { usage, model } = await provider.call(ask({ model: "anthropic/qwen3" }), options());
    expect([usage.costUsd, model]).toEqual([null, "anthropic/qwen3"]);
    expect(await provider.priceOf("anthropic/qwen3")).toBeNull();
    expect(await provider.contextOf?.("anthropic/claude-sonnet-5-5")).toBe(200_000);
  });

  test("reports every sign of life", async () => {
    const { provider } = await provide(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const piece of [
        sse([start()]),
        ": still here\n\n",
        sse([{ type: "ping" }]),
        sse([...text(0, "a"), ...stop()]),
      ]) {
        await new Promise((resolve) => response.write(piece, resolve));
        await activityAfter(piece);
      }
      response.end();
    });
    let wake = (): void => {};
    let signs = 0;
    const activityAfter = (_: string): Promise<void> => new Promise((resolve) => (wake = resolve));
    await provider.call(
      ask(),
      options({
        onActivity: () => {
          signs += 1;
          setImmediate(() => wake());
        },
      }),
    );
    expect(signs).toBeGreaterThanOrEqual(4);
  });
});

describe("the server", () => {
  test("gets the key in the header that all servers of this API accept, and in no other", async () => {
    const { provider, asked } = await provide(saying("a"));
    await provider.call(ask(), options());
    expect(asked[0]).toMatchObject({ path: "/v1/messages", headers: { "x-api-key": key } });
    expect(asked[0]?.headers).not.toHaveProperty("authorization");
  });

  test("gets a bearer token, if there is one, in place of the key", async () => {
    const { provider, asked } = await provide(saying("a"), { authToken: "token-abcdef" });
    await provider.call(ask(), options());
    expect(asked[0]?.headers).toMatchObject({ authorization: "Bearer token-abcdef" });
    expect(asked[0]?.headers).not.toHaveProperty("x-api-key");
  });

  test("gets neither if there is none, and always the headers of the settings", async () => {
    const { provider, asked } = await provide(saying("a"), { key: null, headers: { "X-Team": "blue" } });
    await provider.call(ask(), options());
    expect(asked[0]?.headers).toMatchObject({ "x-team": "blue" });
    expect(asked[0]?.headers).not.toHaveProperty("x-api-key");
    expect(asked[0]?.headers).not.toHaveProperty("authorization");
  });

  test("gets the version of the API that the SDK's types describe", async () => {
    const { provider, asked, url } = await provide(saying("a"));
    await provider.call(ask(), options());
    const own = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
    await own.messages.create({ model: "claude-sonnet-5-5", max_tokens: 1, messages: [], stream: true });
    expect(asked[1]?.headers["anthropic-version"]).toBe(asked[0]?.headers["anthropic-version"]);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test("does not depend on the environment", async () => {
    const elsewhere = await startWire(saying("from elsewhere"));
    for (const [name, value] of Object.entries({
      ANTHROPIC_API_KEY: "sk-ant-of-the-environment",
      ANTHROPIC_AUTH_TOKEN: "token-of-the-environment",
      ANTHROPIC_BASE_URL: elsewhere.url,
      ANTHROPIC_CUSTOM_HEADERS: "X-Stray: stray-of-the-environment\nanthropic-version: 1999-01-01",
      ANTHROPIC_PROFILE: "profile-of-the-environment",
      ANTHROPIC_LOG: "debug",
    })) {
      vi.stubEnv(name, value);
    }
    const log = vi.spyOn(console, "debug");
    for (const more of [{}, { key: null }, { authToken: "token-abcdef" }]) {
      const { provider, asked } = await provide(saying("from here"), more);
      expect((await provider.call(ask(), options())).text).toBe("from here");
      expect(JSON.stringify(asked)).not.toMatch(/of-the-environment|1999/);
    }
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
    const own = createAnthropicProvider({
      settings: settings(),
      prices,
      fetch: async (url) => Promise.reject(new TypeError(String(url))),
    });
    const error = await failureOf(own.call(ask(), options()));
    expect(error.message).toContain("https://api.anthropic.com/v1/messages");
    expect(elsewhere.asked).toEqual([]);
  });

  test("gets its next request over an open connection", async () => {
    const { provider, connections } = await provide(saying("a"));
    for (let i = 0; i < 10; i += 1) await provider.call(ask(), options());
    // Not always one: a connection may not yet be free at the moment of the next call.
    expect(connections()).toBeLessThan(10);
  });

  test("gets one request: a refused call is not repeated here", async () => {
    const { provider, asked } = await provide(refusing(529, { type: "overloaded_error", message: "Overloaded" }));
    await failureOf(provider.call(ask(), options()));
    expect(asked).toHaveLength(1);
  });
});

describe("an abort", () => {
  const waiting: Answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse([start(), ...text(0, "I was about")]));
  };

  test("stops a call at once, and closes its connection", async () => {
    const abort = new AbortController();
    let onClosed = (): void => {};
    const closed = new Promise<void>((resolve) => (onClosed = resolve));
    const { provider } = await provide((response, asked) => {
      response.on("close", () => onClosed());
      return waiting(response, asked);
    });
    const deltas: string[] = [];
    const call = provider.call(
      ask(),
      options({
        signal: abort.signal,
        onDelta: (piece) => {
          deltas.push(piece);
          abort.abort();
        },
      }),
    );
    expect(await failureOf(call)).toMatchObject({ type: "cancelled", recoverable: false });
    await closed;
    expect(deltas).toEqual(["I was about"]);
  });

  test("leaves no listener on a signal that lives on", async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, "addEventListener");
    const remove = vi.spyOn(signal, "removeEventListener");
    const { provider } = await provide([saying("a"), refusing(500, { type: "api_error", message: "no" })]);
    await provider.call(ask(), options({ signal }));
    await failureOf(provider.call(ask(), options({ signal })));
    expect(add.mock.calls.length).toBe(2);
    expect(remove.mock.calls.length).toBe(2);
  });
});
