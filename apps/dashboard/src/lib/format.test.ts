import { describe, expect, it } from "vitest";
import {
  costText,
  firstLine,
  formatAge,
  formatCost,
  formatCount,
  formatDuration,
  formatElapsed,
  shortId,
} from "./format.ts";

const hour = 3_600_000;

describe("a duration", () => {
  it.each([
    [-5, "0ms"],
    [0, "0ms"],
    [420, "420ms"],
    [999, "999ms"],
    [1_000, "1.0s"],
    [9_960, "9.9s"],
    [10_000, "10s"],
    [59_999, "59s"],
    [60_000, "1m 00s"],
    [187_000, "3m 07s"],
    [hour - 1, "59m 59s"],
    [hour, "1h 00m"],
    [25 * hour, "1d 01h"],
  ])("of %i ms reads %s", (ms, expected) => {
    expect(formatDuration(ms)).toBe(expected);
  });
});

describe("the duration of an active run", () => {
  it.each([
    [-1_000, "0s"],
    [999, "0s"],
    [1_999, "1s"],
    [61_000, "1m 01s"],
  ])("after %i ms ticks in whole seconds: %s", (ms, expected) => {
    expect(formatElapsed(ms)).toBe(expected);
  });
});

describe("an age", () => {
  it.each([
    [-9_000, "now"],
    [1_999, "now"],
    [2_000, "2s ago"],
    [59_999, "59s ago"],
    [60_000, "1m ago"],
    [hour, "1h ago"],
    [49 * hour, "2d ago"],
  ])("of %i ms reads %s", (ms, expected) => {
    expect(formatAge(ms)).toBe(expected);
  });
});

describe("a count", () => {
  it.each([
    [0, "0"],
    [9_999, "9,999"],
    [10_000, "10k"],
    [12_345, "12.3k"],
    [999_999, "999.9k"],
    [1_000_000, "1M"],
    [222_830_000, "222.8M"],
  ])("%i reads %s", (count, expected) => {
    expect(formatCount(count)).toBe(expected);
  });
});

describe("a cost", () => {
  it.each([
    [null, "unknown"],
    [0, "$0"],
    [0.00000001, "<$0.0001"],
    [0.00234, "$0.0023"],
    [0.0421, "$0.042"],
    [0.9, "$0.900"],
    [1, "$1.00"],
    [1234.567, "$1,234.57"],
  ])("of %j reads %s", (costUsd, expected) => {
    expect(formatCost(costUsd)).toBe(expected);
  });

  it.each([
    ["unknown, once a model was called", { costUsd: null, iterations: 1, totalTokens: 0 }, "unknown"],
    ["unknown, once tokens were used", { costUsd: null, iterations: 0, totalTokens: 9 }, "unknown"],
    ["nothing to know before that", { costUsd: null, iterations: 0, totalTokens: 0 }, "–"],
    ["marked, if a call was stopped", { costUsd: 0.9, iterations: 1, totalTokens: 9, estimatedTokens: 4 }, "≈ $0.900"],
    [
      "unknown, if a call of unknown price was stopped",
      { costUsd: null, iterations: 1, totalTokens: 9, estimatedTokens: 4 },
      "unknown",
    ],
    ["nothing, where that is known", { costUsd: 0, iterations: 2, totalTokens: 9 }, "$0"],
  ])("of a run is %s", (_sentence, run, expected) => {
    expect(costText(run)).toBe(expected);
  });
});

describe("the first line of a text", () => {
  it.each([
    ["one\ntwo", "one"],
    ["\n\n  one\r\ntwo", "one"],
    ["", ""],
    ["abcdefghijk", "abcdefghij…"],
  ])("of %j is %j", (text, expected) => {
    expect(firstLine(text, 10)).toBe(expected);
  });
});

it("a short id is the end of an id", () => {
  expect(shortId("0198f2aa-0000-7000-8000-00000000abcd")).toBe("0000abcd");
});
