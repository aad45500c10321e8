import { type ModelProvider, type ModelRequest, RunFailure } from "@troupe/core";
import { createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, test } from "vitest";
import { shareLimits } from "./shared-limits.ts";

const options = { signal: new AbortController().signal, onDelta: () => {} };
const origin = { session: "s", run: "r", agent: "main", task: "go", attempt: 1, step: 1 };
const request: ModelRequest = {
  model: "busy/m",
  system: "",
  messages: [],
  tools: [],
  maxOutputTokens: 10,
  temperature: null,
  origin,
};

/** A provider that fails with these errors, one after another, and then answers. */
function busy(...errors: (Partial<RunFailure["runError"]> & { type: RunFailure["runError"]["type"] })[]) {
  const left = [...errors];
  const seen = { calls: 0 };
  const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, costUsd: 0 };
  const provider: ModelProvider = {
    id: "busy",
    priceOf: async () => null,
    async call({ model }) {
      seen.calls += 1;
      const error = left.shift();
      if (error) throw new RunFailure({ message: "slow down", recoverable: true, ...error });
      return { text: "ok", calls: [], usage, stopReason: "end", model };
    },
  };
  return { provider, seen };
}

describe("once a provider has asked to wait", () => {
  test("nobody else asks it until the time is over", async () => {
    const clock = createSimulatedClock();
    const { provider, seen } = busy({ type: "rate_limit", retryAfterMs: 1_000 });
    const shared = shareLimits({ provider, clock });
    await expect(shared.call(request, options)).rejects.toThrow("slow down");
    clock.advance(400);
    await expect(shared.call(request, options)).rejects.toMatchObject({
      runError: { type: "rate_limit", recoverable: true, retryAfterMs: 600 },
    });
    expect(seen.calls).toBe(1);
    clock.advance(600);
    expect((await shared.call(request, options)).text).toBe("ok");
  });

  test("a shorter wait does not shorten a longer one", async () => {
    const clock = createSimulatedClock();
    const { provider } = busy({ type: "rate_limit", retryAfterMs: 1_000 }, { type: "rate_limit", retryAfterMs: 10 });
    const shared = shareLimits({ provider, clock });
    await Promise.allSettled([shared.call(request, options), shared.call(request, options)]);
    clock.advance(500);
    await expect(shared.call(request, options)).rejects.toMatchObject({ runError: { retryAfterMs: 500 } });
  });
});

describe("the next call is made at once", () => {
  test.for([
    { what: "when the provider did not say how long", error: { type: "rate_limit" as const, retryAfterMs: null } },
    { what: "after any other failure", error: { type: "network" as const, retryAfterMs: 5_000 } },
  ])("$what", async ({ error }) => {
    const { provider, seen } = busy(error);
    const shared = shareLimits({ provider, clock: createSimulatedClock() });
    await expect(shared.call(request, options)).rejects.toThrow("slow down");
    expect((await shared.call(request, options)).text).toBe("ok");
    expect(seen.calls).toBe(2);
  });
});
