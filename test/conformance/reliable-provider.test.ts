/**
 * Tests the retry layer around real SDKs and connections, against a server that fails as vendors do. A refused request
 * is repeated no earlier than the server allows, and only if a retry can help. A silent server is given up in time. The
 * layer's clock moves only when the test moves it.
 */
import type { ModelCallOptions, ModelRequest } from "@troupe/core";
import { createSimulatedClock } from "@troupe/core/memory";
import { systemClock } from "@troupe/core/system";
import {
  createPriceTable,
  createProvider,
  createReliableProvider,
  type Fault,
  ProviderLimits,
  type ProviderSettings,
} from "@troupe/models";
import { describe, expect, type TestContext, test } from "vitest";
import { saying, startServer } from "../harness/model-server/fixture.ts";

const wires = [
  { wire: "anthropic", id: "anthropic", model: "claude-sonnet-4-5" },
  { wire: "openai-responses", id: "openai", model: "gpt-5" },
  { wire: "openai-chat", id: "openai", model: "gpt-4.1" },
] as const;

type WireCase = (typeof wires)[number];

/** A model whose first requests go wrong in these ways. */
async function providerWithFaults(test: TestContext, { wire, id, model }: WireCase, ...faults: Fault[]) {
  const text = "one two three four five six seven eight";
  const server = await startServer(test, {
    apiKey: "the-key",
    scenario: saying({ text, deltas: 8, faults }),
    identify: () => ({ agent: "main", step: 1 }),
  });
  const settings: ProviderSettings = {
    id,
    wire,
    baseUrl: wire === "anthropic" ? server.anthropicUrl : server.openaiUrl,
    key: "the-key",
    authToken: null,
    keyVariable: "THE_KEY",
    headers: {},
    limits: ProviderLimits.parse({}),
    models: {},
    isLocal: false,
  };
  const clock = createSimulatedClock();
  const prices = createPriceTable({ provider: id, clock });
  const provider = createReliableProvider({
    provider: createProvider({ settings, prices, clock: systemClock() }),
    limits: settings.limits,
    clock,
    random: () => 1,
  });
  const request: ModelRequest = {
    model: `${id}/${model}`,
    system: "You are a test.",
    messages: [{ role: "user", text: "go" }],
    tools: [],
    maxOutputTokens: 1_000,
    temperature: null,
    origin: { session: "s", run: "r", agent: "main", task: "go", attempt: 1, step: 1 },
  };
  const waits: number[] = [];
  const call = (options: Partial<ModelCallOptions> = {}) =>
    provider.call(request, {
      signal: new AbortController().signal,
      onDelta: () => {},
      onRetry({ waitMs }) {
        waits.push(waitMs);
        // The layer begins to wait as soon as this is said.
        setImmediate(() => clock.advance(waitMs));
      },
      ...options,
    });
  const asked = () => server.calls().filter(({ method }) => method === "POST").length;
  return { call, waits, asked, clock, text };
}

describe.for(wires)("over $wire", (wire) => {
  test("a refused request is repeated in time, and only the answer has a price", async (t) => {
    const { call, waits, asked, text } = await providerWithFaults(
      t,
      wire,
      { status: 429, retryAfterMs: 7_000 },
      { status: wire.wire === "anthropic" ? 529 : 503 },
      { status: 500 },
      { status: 429, retryAfterMs: 29_000 },
    );
    const reply = await call();
    expect(reply).toMatchObject({ text, stopReason: "end" });
    expect(reply.retries?.map(({ error }) => error.type)).toEqual([
      "rate_limit",
      "rate_limit",
      "network",
      "rate_limit",
    ]);
    expect(reply.usage.costUsd).toBeGreaterThan(0);
    expect(waits).toEqual([7_000, 2_000, 8_000, 30_000]);
    expect(asked()).toBe(5);
  });

  test("a refused request is made at most five times", async (t) => {
    const { call, asked } = await providerWithFaults(t, wire, ...Array.from({ length: 9 }, () => ({ status: 500 })));
    await expect(call()).rejects.toMatchObject({ runError: { type: "network", tries: 5, begun: false } });
    expect(asked()).toBe(5);
  });

  test("a refused request is not repeated after a wait of more than half a minute", async (t) => {
    const { call, asked } = await providerWithFaults(t, wire, { status: 429, retryAfterMs: 60_000 });
    await expect(call()).rejects.toMatchObject({ runError: { type: "rate_limit", retryAfterMs: 60_000, tries: 1 } });
    expect(asked()).toBe(1);
  });

  test.for([
    {
      what: "a spent budget",
      fault: {
        status: 429,
        code: "insufficient_quota",
        message: "You exceeded your current quota (insufficient_quota)",
      },
      type: "budget",
    },
    { what: "a request that is invalid", fault: { status: 400 }, type: "params" },
    { what: "a wrong key", fault: { status: 401 }, type: "auth" },
    { what: "no permission", fault: { status: 403 }, type: "permission" },
    { what: "an unknown model", fault: { status: 404 }, type: "params" },
  ])("a failure is not repeated after $what", async ({ fault, type }, t) => {
    const { call, asked } = await providerWithFaults(t, wire, fault);
    await expect(call()).rejects.toMatchObject({ runError: { type, recoverable: false, tries: 1 } });
    expect(asked()).toBe(1);
  });

  test.for([
    { what: "stops in the middle", fault: { stall: { afterPieces: 3 } } },
    { what: "disconnects in the middle", fault: { halfOpen: { afterPieces: 3 } } },
  ])("a server that $what of an answer is given up within 90 s, without a repetition", async ({ fault }, t) => {
    const { call, asked, clock } = await providerWithFaults(t, wire, fault);
    let deltas = 0;
    const reply = call({
      onDelta() {
        deltas += 1;
        if (deltas === 3) setImmediate(() => clock.advance(75_000));
      },
    });
    await expect(reply).rejects.toMatchObject({
      runError: { type: "network", begun: true, recoverable: true, tries: 1 },
    });
    expect(clock.now()).toBeLessThanOrEqual(90_000);
    expect(asked()).toBe(1);
  });

  test.for([
    { what: "breaks off", fault: { cut: { afterPieces: 3 } } },
    { what: "fails inside an answer", fault: { streamError: { afterPieces: 3, status: 529 } } },
  ])("a server that $what may charge for it: the request is not repeated here", async ({ fault }, t) => {
    const { call, asked } = await providerWithFaults(t, wire, fault);
    await expect(call()).rejects.toMatchObject({ runError: { begun: true, recoverable: true, tries: 1 } });
    expect(asked()).toBe(1);
  });
});
