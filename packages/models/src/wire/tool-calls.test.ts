import { describe, expect, test } from "vitest";
import { readArguments } from "./tool-calls.ts";

const deep = (levels: number): string => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;

describe("the arguments of a call", () => {
  test.each([
    ["", {}],
    [" \n", {}],
    ["{}", {}],
    ['{"path":"a","lines":[1,null,{"x":true}]}', { path: "a", lines: [1, null, { x: true }] }],
    ['{"face":"\\ud83d\\ude00","constructor":"of"}', { face: "😀", constructor: "of" }],
    [deep(90), JSON.parse(deep(90))],
  ])("written as %j are read", (text, args) => {
    expect(readArguments(text)).toEqual({ args, problem: null });
  });

  test.each([
    ["cut off", '{"path":"a', "not valid JSON"],
    ["of another notation", "{path: 'a'}", "not valid JSON"],
    ["an array", "[1]", "not an array"],
    ["a text", '"a"', "not a string"],
    ["a number", "7", "not a number"],
    ["null", "null", "not null"],
    ["with a key that would change the prototype", '{"__proto__":{"polluted":true}}', "__proto__"],
    ["with such a key further in", '{"a":[{"__proto__":1}]}', "__proto__"],
    ["with half of a character", '{"a":"\\ud83d"}', "lone surrogate"],
    ["with half of a character in a key", '{"a":{"\\ude00":1}}', "lone surrogate"],
    ["too long", JSON.stringify({ a: "x".repeat(256 * 1024) }), "262144"],
    ["too deep", deep(100_000), "levels deep"],
  ])("that are %s are a problem that the model can read", (_, text, problem) => {
    const read = readArguments(text);
    expect(read).toEqual({ args: null, problem: expect.stringContaining(problem) });
    expect(read.problem?.length).toBeLessThan(300);
    expect(read.problem?.isWellFormed()).toBe(true);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
