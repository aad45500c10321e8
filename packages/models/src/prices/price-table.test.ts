/** The cost of a call and its highest possible price, compared with figures that were calculated by hand. */
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

describe("the cost of a call:", () => {
  test.for([
    // 1,000 × 3 + 100 × 15
    { what: "input and output", of: ["anthropic", "claude-sonnet-4-5"], used: usage(1_000, 100), usd: 0.0045 },
    // 1,000 × 3 + 8,000 × 0.3 + 1,000 × 3.75 + 100 × 15
    {
      what: "cached tokens once, at their own price, and cache writes at theirs",
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
      what: "reasoning as part of the output",
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

  test("less at night, for a provider with night prices", () => {
    const clock = createSimulatedClock(Date.UTC(2026, 5, 1, 20));
    expect(tableOf("deepseek", { clock }).costOf("deepseek-chat", usage(1_000, 100))).toBeCloseTo(0.00019, 12);
  });

  test("with more cached tokens than input tokens, all cached tokens are charged", () => {
    const counted = usage(10, 0, { cachedTokens: 1_000 });
    expect(tableOf("anthropic").costOf("claude-sonnet-4-5", counted)).toBeCloseTo(0.0003, 12);
  });
});

describe("the highest price of a token", () => {
  test.for([
    {
      what: "in the highest tier",
      of: ["anthropic", "claude-sonnet-4-5"],
      price: { inputPerMillion: 6, outputPerMillion: 22.5, cachedInputPerMillion: 0.6, cacheWritePerMillion: 7.5 },
    },
    {
      what: "at the highest hour of the next day",
      of: ["deepseek", "deepseek-chat"],
      price: { inputPerMillion: 0.27, outputPerMillion: 1.1, cachedInputPerMillion: 0.07 },
    },
    { what: "by its only price", of: ["openai", "gpt-5"], price: { inputPerMillion: 1.25, outputPerMillion: 10 } },
  ] as const)("$what", ({ of: [provider, model], price }) => {
    const night = createSimulatedClock(Date.UTC(2026, 5, 1, 20));
    expect(tableOf(provider, { clock: night }).priceOf(model)).toMatchObject(price);
  });

  test("depends on the date: a price that has fallen is the new one", () => {
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
          const highest = Math.max(price?.inputPerMillion ?? 0, price?.cacheWritePerMillion ?? 0);
          expect(cost).toBeLessThanOrEqual((input * highest + 1_000 * (price?.outputPerMillion ?? 0)) / 1e6 + 1e-12);
        }
      }
    }
  });
});

describe("an unknown cost is null, and never 0:", () => {
  test.for([
    { what: "a model that is not listed", of: ["openai", "gpt-99-imaginary"] },
    { what: "a provider that is not listed", of: ["acme", "gpt-4o"] },
    { what: "a provider with a similar name", of: ["my-openai", "gpt-4o"] },
    { what: "a model that is listed without a price", of: ["openrouter", "agentica-org/deepcoder-14b-preview:free"] },
    { what: "a model that charges for something else", of: ["openai", "whisper-1"] },
    { what: "a name of an object's property", of: ["openai", "constructor"] },
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

describe("the user's figures win", () => {
  const overrides = {
    "gpt-5": { price: { inputPerMillion: 2, outputPerMillion: 4, cachedInputPerMillion: 1, cacheWritePerMillion: 3 } },
    "gpt-4o": { contextTokens: 9_000 },
    mine: { price: { inputPerMillion: 1, outputPerMillion: 1 } },
  };

  test("for a price, with cached tokens counted once", () => {
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

  test("for a context window, with the price unchanged", () => {
    const table = tableOf("openai", { overrides });
    expect(table.contextOf("gpt-4o")).toBe(9_000);
    expect(table.contextOf("gpt-5")).toBe(400_000);
    expect(table.costOf("gpt-4o", usage(1_000, 100))).toBeCloseTo(0.0035, 12);
  });

  test("even for a local server, which is otherwise free and without known context windows", () => {
    const table = tableOf("openai", { overrides, isLocal: true });
    expect(table.costOf("mine", usage(1_000, 0))).toBeCloseTo(0.001, 12);
    expect(table.priceOf("gpt-4.1")).toEqual({ inputPerMillion: 0, outputPerMillion: 0 });
    expect(table.costOf("gpt-4.1", usage(1_000, 100))).toBe(0);
    expect(table.contextOf("gpt-4.1")).toBeNull();
    expect(table.contextOf("gpt-4o")).toBe(9_000);
  });
});

test("nothing is fetched: the list is bundled", async () => {
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
