import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aDefinition, aRequest } from "../machines/fixtures.test-helper.ts";
import { AgentDefinition } from "./agent.ts";
import { Limits, PartialLimits, tighten } from "./limits.ts";
import { RunRequest } from "./request.ts";

const defaults = Limits.parse({});

test("the defaults are the documented ones", () => {
  expect(defaults).toEqual({
    maxIterations: 20,
    maxToolCalls: 100,
    maxDurationMs: 300_000,
    maxTokens: null,
    maxContextTokens: null,
    maxOutputTokens: 8_192,
    maxCostUsd: null,
    maxParallelTools: 8,
    maxConcurrent: 5,
    maxChildren: 50,
    maxDepth: 3,
  });
});

describe("a missing cap stays missing", () => {
  test.each([[{}], [{ maxDepth: 2 }], [{ maxTokens: null }]])("%j", (limits) => {
    expect(PartialLimits.parse(limits)).toEqual(limits);
  });

  test("in a request, so that a parent does not tighten unnamed limits", () => {
    const limits = { maxDepth: 3 };
    expect(RunRequest.parse(aRequest({ limits })).limits).toEqual(limits);
  });

  test("in a definition", () => {
    const limits = { maxIterations: 50 };
    expect(AgentDefinition.parse(aDefinition({ limits })).limits).toEqual(limits);
  });
});

test.each([
  ["zero", { maxIterations: 0 }],
  ["a negative", { maxTokens: -1 }],
  ["half a turn", { maxIterations: 1.5 }],
  ["no number", { maxCostUsd: Number.NaN }],
  ["text", { maxDepth: "3" }],
  ["zero output tokens", { maxOutputTokens: 0 }],
  ["output tokens of null", { maxOutputTokens: null }],
  ["zero children", { maxChildren: 0 }],
  ["children of null", { maxChildren: null }],
])("%s is not a cap", (_, limits) => {
  expect(PartialLimits.safeParse(limits).success).toBe(false);
});

describe("tighten", () => {
  test.each([
    ["a lower cap holds", { maxIterations: 5 }, { maxIterations: 5 }],
    ["a higher cap does not", { maxIterations: 50 }, {}],
    ["any cap holds without another", { maxTokens: 10 }, { maxTokens: 10 }],
    ["a lower output cap holds", { maxOutputTokens: 100 }, { maxOutputTokens: 100 }],
    ["a higher output cap does not", { maxOutputTokens: 100_000 }, {}],
    ["fewer children hold", { maxChildren: 2 }, { maxChildren: 2 }],
    ["null does not remove a cap", { maxDepth: null }, {}],
    ["undefined is ignored", { maxDepth: undefined }, {}],
    ["a value that is not a number is ignored", { maxIterations: Number.NaN, maxTokens: Number.POSITIVE_INFINITY }, {}],
    ["an invalid limit is ignored", { maxAgents: 1, toString: 1 }, {}],
  ])("%s", (_, by, changed) => {
    expect(tighten(defaults, by)).toEqual({ ...defaults, ...changed });
  });

  test("is never looser, in any field, and does not change its arguments", () => {
    const cap = fc.option(fc.oneof(fc.integer({ min: 1, max: 1_000_000 }), fc.double()));
    const names = Object.keys(defaults) as (keyof Limits)[];
    const anyCaps = fc.record(Object.fromEntries(names.map((name) => [name, cap])), { requiredKeys: [] });
    fc.assert(
      fc.property(anyCaps, anyCaps, (first, second) => {
        const before = tighten(defaults, first);
        const copy = { ...before };
        const after = tighten(before, second);
        expect(before).toEqual(copy);
        expect(Object.keys(after)).toEqual(names);
        for (const name of names) {
          const [was, is] = [before[name], after[name]];
          expect(was === null || (is !== null && is <= was)).toBe(true);
        }
      }),
    );
  });
});
