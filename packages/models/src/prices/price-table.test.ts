/** What a call cost, and the most that it can cost, beside figures that were reckoned by hand. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, test, vi } from "vitest";
import { createPriceTable } from "./price-table.ts";

/** Noon, by Greenwich. */
const noonMs = Date.UTC(2026, 5, 1, 12);
const tableOf = (provider: string, options: Partial<Parameters<typeof createPriceTable>[0]> = {}) =>
  createPriceTable({ provider, clock: createSimulatedClock(noonMs), ...options });

const usage = (inputTokens: number, outputTokens: number, rest = {}) => ({
  inputTokens,
  outputTokens,
  cachedTokens: 0,
  ...rest,
});

describe("what a call cost:", () => {
  test.for([
    // 1,000 × 3 + 100 × 15
    { what: "words in, words out", of: ["anthropic", "claude-sonnet-4-5"], used: usage(1_000, 100), usd: 0.0045 },
    // 1,000 × 3 + 8,000 × 0.3 + 1,000 × 3.75 + 100 × 15
    {
      what: "cached tokens once, at their own price, and those that were written at theirs",
      of: ["anthropic", "claude-sonnet-4-5"],
      used: usage(10_000, 100, { cachedTokens: 8_000, cacheWriteTokens: 1_000 }),
      usd: 0.01065,
    },
    // 300,000 × 6 + 1,000 × 22.5
    {
      what: "a long one at its tier's price",
      of: ["anthropic", "claude-sonnet-4-5"],
      used: usage(300_000, 1_000),
      usd: 1.8225,
    },
    // 250 × 1.25 + 750 × 0.125 + 200 × 10
    {
      what: "thoughts among what was said",
      of: ["openai", "gpt-5"],
      used: usage(1_000, 200, { cachedTokens: 750, reasoningTokens: 150 }),
      usd: 0.00240625,
    },
    // 1,000 × 0.07 + 100 × 0.27; nothing is known of its cache, so all that was read is charged in full
    {
      what: "without a price for the cache",
      of: ["openrouter", "qwen/qwen3-coder-30b-a3b-instruct"],
      used: usage(1_000, 100, { cachedTokens: 900 }),
      usd: 0.000097,
    },
    // 1,000 × 0.27 + 100 × 1.1: by day
    { what: "at the hour's price", of: ["deepseek", "deepseek-chat"], used: usage(1_000, 100), usd: 0.00038 },
  ] as const)("$what", ({ of: [provider, model], used, usd }) => {
    expect(tableOf(provider).costOf(model, used)).toBeCloseTo(usd, 12);
  });

  test("less at night, where it is", () => {
    const clock = createSimulatedClock(Date.UTC(2026, 5, 1, 20));
    expect(tableOf("deepseek", { clock }).costOf("deepseek-chat", usage(1_000, 100))).toBeCloseTo(0.00019, 12);
  });

  test("where a provider's figures do not add up: more cached than read is charged as read", () => {
    const counted = usage(10, 0, { cachedTokens: 1_000 });
    expect(tableOf("anthropic").costOf("claude-sonnet-4-5", counted)).toBeCloseTo(0.0003, 12);
  });
});

describe("the most that a token can cost", () => {
  test.for([
    {
      what: "in the dearest tier",
      of: ["anthropic", "claude-sonnet-4-5"],
      price: { inputPerMillion: 6, outputPerMillion: 22.5, cachedInputPerMillion: 0.6, cacheWritePerMillion: 7.5 },
    },
    {
      what: "at the dearest hour of the day that comes",
      of: ["deepseek", "deepseek-chat"],
      price: { inputPerMillion: 0.27, outputPerMillion: 1.1, cachedInputPerMillion: 0.07 },
    },
    { what: "by its only price", of: ["openai", "gpt-5"], price: { inputPerMillion: 1.25, outputPerMillion: 10 } },
  ] as const)("$what", ({ of: [provider, model], price }) => {
    const night = createSimulatedClock(Date.UTC(2026, 5, 1, 20));
    expect(tableOf(provider, { clock: night }).priceOf(model)).toMatchObject(price);
  });

  test("is by the date: a price that has fallen is the new one", () => {
    const at = (date: number) =>
      tableOf("anthropic", { clock: createSimulatedClock(date) }).priceOf("claude-sonnet-4-6");
    expect(at(Date.UTC(2026, 0, 1))?.inputPerMillion).toBe(6);
    expect(at(Date.UTC(2026, 5, 1))?.inputPerMillion).toBe(3);
  });

  test.for([
    ["anthropic", "claude-sonnet-4-5"],
    ["openai", "gpt-5.5"],
    ["deepseek", "deepseek-chat"],
    ["google", "gemini-2.5-pro"],
    ["openrouter", "anthropic/claude-opus-4.5"],
  ] as const)("is never less than what a call costs: %s/%s", ([provider, model]) => {
    for (let hour = 0; hour < 24; hour += 1) {
      const table = tableOf(provider, { clock: createSimulatedClock(noonMs + hour * 3_600_000) });
      const price = tableOf(provider).priceOf(model);
      for (const input of [1, 100_000, 199_999, 200_001, 272_000, 900_000]) {
        for (const cached of [0, Math.floor(input / 2), input]) {
          const cost = table.costOf(model, usage(input, 1_000, { cachedTokens: cached })) ?? Number.NaN;
          const dearest = Math.max(price?.inputPerMillion ?? 0, price?.cacheWritePerMillion ?? 0);
          expect(cost).toBeLessThanOrEqual((input * dearest + 1_000 * (price?.outputPerMillion ?? 0)) / 1e6 + 1e-12);
        }
      }
    }
  });
});

describe("what nobody knows is null, and never 0:", () => {
  test.for([
    { what: "a model that is not listed", of: ["openai", "gpt-99-imaginary"] },
    { what: "a provider that is not listed", of: ["acme", "gpt-4o"] },
    { what: "a provider that is only called like one", of: ["my-openai", "gpt-4o"] },
    { what: "a model that is listed without a price", of: ["openrouter", "agentica-org/deepcoder-14b-preview:free"] },
    { what: "a model that charges for something else", of: ["openai", "whisper-1"] },
    { what: "a name from an object's own kitchen", of: ["openai", "constructor"] },
    { what: "no name at all", of: ["anthropic", ""] },
  ] as const)("$what", ({ of: [provider, model] }) => {
    const table = tableOf(provider);
    expect([table.priceOf(model), table.costOf(model, usage(1_000, 100)), table.contextOf(model)]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

describe("what a user says wins", () => {
  const overrides = {
    "gpt-5": { price: { inputPerMillion: 2, outputPerMillion: 4, cachedInputPerMillion: 1, cacheWritePerMillion: 3 } },
    "gpt-4o": { contextTokens: 9_000 },
    mine: { price: { inputPerMillion: 1, outputPerMillion: 1 } },
  };

  test("of a price, cached tokens counted once", () => {
    const table = tableOf("openai", { overrides });
    expect(table.priceOf("gpt-5")).toEqual(overrides["gpt-5"].price);
    // 100 × 2 + 600 × 1 + 300 × 3 + 50 × 4
    expect(table.costOf("gpt-5", usage(1_000, 50, { cachedTokens: 600, cacheWriteTokens: 300 }))).toBeCloseTo(
      0.0019,
      12,
    );
    // Without prices of its own the cache costs what reading costs.
    expect(table.costOf("mine", usage(1_000, 0, { cachedTokens: 600 }))).toBeCloseTo(0.001, 12);
  });

  test("of a window, with the price as it was", () => {
    const table = tableOf("openai", { overrides });
    expect(table.contextOf("gpt-4o")).toBe(9_000);
    expect(table.contextOf("gpt-5")).toBe(400_000);
    expect(table.costOf("gpt-4o", usage(1_000, 100))).toBeCloseTo(0.0035, 12);
  });

  test("even of a server of one's own, which is free otherwise, and whose windows nobody else knows", () => {
    const table = tableOf("openai", { overrides, isLocal: true });
    expect(table.costOf("mine", usage(1_000, 0))).toBeCloseTo(0.001, 12);
    expect(table.priceOf("gpt-4.1")).toEqual({ inputPerMillion: 0, outputPerMillion: 0 });
    expect(table.costOf("gpt-4.1", usage(1_000, 100))).toBe(0);
    expect(table.contextOf("gpt-4.1")).toBeNull();
    expect(table.contextOf("gpt-4o")).toBe(9_000);
  });
});

test("nothing is fetched: the list is what came with the program", async () => {
  const fetched = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("offline"));
  const table = tableOf("anthropic");
  table.priceOf("claude-sonnet-4-5");
  table.costOf("claude-sonnet-4-5", usage(1, 1));
  await new Promise(setImmediate);
  expect(fetched).not.toHaveBeenCalled();
  fetched.mockRestore();
  const source = readFileSync(createRequire(import.meta.url).resolve("@pydantic/genai-prices"), "utf8");
  expect(source).not.toMatch(/\bfetch\(|XMLHttpRequest|require\("(?:node:)?https?"\)/);
});
