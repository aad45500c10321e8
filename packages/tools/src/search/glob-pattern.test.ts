import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { globMatcher } from "./glob-pattern.ts";

describe("a pattern matches", () => {
  it.each([
    ["*.ts", "a.ts"],
    ["*.ts", ".ts"],
    ["*", ".hidden"],
    ["**/*.ts", "a.ts"],
    ["**/*.ts", "x/y/a.ts"],
    ["src/**", "src/a/b.ts"],
    ["src/**/test/*.ts", "src/test/a.ts"],
    ["src/**/test/*.ts", "src/a/test/b/test/c.ts"],
    ["./src//a.ts", "src/a.ts"],
    ["a?c", "abc"],
    ["a?c", "aßc"],
    ["?", "🎭"],
    ["[abc].ts", "b.ts"],
    ["[a-c0-9].ts", "7.ts"],
    ["[!a].ts", "b.ts"],
    ["[^a].ts", "b.ts"],
    ["[]].ts", "].ts"],
    ["[a-].ts", "-.ts"],
    ["*.{ts,tsx}", "a.tsx"],
    ["{src,test}/**/*.{ts,js}", "test/a/b.js"],
    ["a{b,c{d,e}}f", "acef"],
    ["a{,b}", "a"],
    ["\\*.ts", "*.ts"],
    ["\\{a\\}", "{a}"],
    ["a\\", "a\\"],
    ["a*b*c", "a__b_bc"],
    ["a**c", "abbc"],
    ["x-y (1).ts", "x-y (1).ts"],
  ])("%s: %s", (pattern, path) => {
    expect(globMatcher(pattern)(path)).toBe(true);
  });
});

describe("and does not match", () => {
  it.each([
    ["*.ts", "x/a.ts"],
    ["*.ts", "a.tsx"],
    ["src/*", "src/a/b"],
    ["a?c", "ac"],
    ["a?c", "a/c"],
    ["[!a].ts", "a.ts"],
    ["[a-c].ts", "d.ts"],
    ["**/b", "ab"],
    ["a/**/b", "ab"],
    ["{a,b}", "c"],
    ["\\*.ts", "a.ts"],
    ["A.ts", "a.ts"],
  ])("%s: %s", (pattern, path) => {
    expect(globMatcher(pattern)(path)).toBe(false);
  });
});

test("case counts, unless ignoreCase is set", () => {
  expect(globMatcher("SRC/*.TS", { ignoreCase: true })("src/a.ts")).toBe(true);
});

describe("an invalid pattern says why:", () => {
  it.each([
    ["[abc", /a \[ in it is never closed/],
    ["a{b,c", /a \{ in it is never closed/],
    ["{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", /more than 200 patterns/],
    ["{a,b}".repeat(190), /more than 200 patterns/],
  ])("%s", (pattern, why) => {
    expect(() => globMatcher(pattern)).toThrow(why);
  });
});

test("a pattern that makes a regular expression backtrack forever takes no time", { timeout: 10_000 }, () => {
  expect(globMatcher(`${"*a".repeat(300)}b`)("a".repeat(4_000))).toBe(false);
  expect(globMatcher(`${"**/a/".repeat(150)}b`)("a/".repeat(2_000))).toBe(false);
});

test("a path matches itself once escaped, and any other text is a pattern or an error", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[^/\0]{1,8}$/), { minLength: 1, maxLength: 4 }), (names) => {
      fc.pre(names.every((name) => name !== "." && name !== ".."));
      const path = names.join("/");
      const asItIs = path.replace(/[\\*?[\]{}]/g, "\\$&");
      expect(globMatcher(asItIs)(path)).toBe(true);
      expect(globMatcher("**")(path)).toBe(true);
      try {
        globMatcher(path)(path);
      } catch (error) {
        expect(error).toMatchObject({ name: "RunFailure" });
      }
    }),
  );
});
