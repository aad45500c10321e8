import { describe, expect, it, test } from "vitest";
import { goalOf, hasTerm, wordsOf } from "./goal.ts";

const words = (text: string): string[] => goalOf(text).terms.map(({ word }) => word);

describe("a goal is about", () => {
  it.each([
    ["Please fix the bug where approvals are not shown", ["approvals", "shown"]],
    ["Make readFile and read_dir faster", ["readFile", "read_dir", "dir", "faster"]],
    ["obey retry-after, 3 times", ["retry-after", "obey", "retry", "times"]],
    ["the of and", []],
    ["", []],
    ["Größe der Übersicht", ["größe", "der", "übersicht"]],
  ])("%s: %j", (text, expected) => {
    expect(words(text).filter((word) => word !== "read")).toEqual(expected);
  });

  it("at most ten words, with code identifiers first", () => {
    const text = "alpha bravo charlie delta echoes foxtrot golf hotel india juliett kilo mayWrite";
    expect(words(text)).toHaveLength(10);
    expect(words(text)[0]).toBe("mayWrite");
  });

  it("no word over the length limit", () => {
    expect(words(`${"x".repeat(61)} ${"y".repeat(60)}`)).toEqual(["y".repeat(60)]);
  });

  it("the files in its text", () => {
    expect(goalOf("look at ./src/tools/judge.ts, README.md and packages/core").mentions).toEqual([
      "src/tools/judge.ts",
      "readme.md",
      "packages/core",
    ]);
  });
});

describe("forms of a word match each other:", () => {
  it.each([
    ["approvals", "approved"],
    ["retries", "retry"],
    ["cancelling", "cancel"],
    ["reading", "readFile"],
    ["configuration", "loadConfig"],
    ["tests", "testing"],
    ["delegation", "delegate"],
    ["permissions", "permission"],
    ["mayWrite", "may-write"],
    ["API", "api"],
  ])("%s, %s", (asked, name) => {
    const [term] = goalOf(asked).terms;
    const parts = wordsOf(name);
    expect(term && hasTerm([...parts, parts.join("")], term)).toBe(true);
  });
});

test("a short word does not match longer words with the same beginning", () => {
  const [term] = goalOf("api").terms;
  expect(term && hasTerm(wordsOf("apiaryKeeper"), term)).toBe(false);
});

test("names are split into words", () => {
  expect(wordsOf("readMCPServer_now2-x.ts")).toEqual(["read", "mcp", "server", "now2", "x", "ts"]);
});
