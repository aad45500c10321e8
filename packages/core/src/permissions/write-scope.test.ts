import { describe, expect, it } from "vitest";
import { WriteScope } from "../protocol/agent.ts";
import { mayWrite } from "./write-scope.ts";

describe("the folders of a write scope", () => {
  const cases: [string, string[][], string, boolean][] = [
    ["no scope: anywhere", [], "src/a.ts", true],
    ["an empty scope: nowhere", [[]], "src/a.ts", false],
    ["in a folder", [["test"]], "test/a.ts", true],
    ["far below it", [["test"]], "test/a/b/c.ts", true],
    ["the folder itself", [["test"]], "test", true],
    ["beside it", [["test"]], "src/a.ts", false],
    ["a sibling with the same prefix", [["test"]], "testing/a.ts", false],
    ["a folder with that name elsewhere", [["test"]], "src/test/a.ts", false],
    ["a folder name, anywhere", [["**/test"]], "src/test/a.ts", true],
    ["at the top, too", [["**/test"]], "test/a.ts", true],
    ["two folder names in a row, anywhere", [["**/a/b"]], "x/a/b/c", true],
    ["not with a folder between them", [["**/a/b"]], "x/a/c/b", false],
    ["a folder of a folder", [["packages/a/test"]], "packages/a/test/x.ts", true],
    ["not the folder above", [["packages/a/test"]], "packages/a/x.ts", false],
    ["one folder of several", [["docs", "test"]], "test/a.ts", true],
    ["the intersection of all scopes", [["test"], ["test/unit", "docs"]], "test/unit/a.ts", true],
    ["not one of them alone", [["test"], ["test/unit"]], "test/a.ts", false],
    ["nothing with an empty one among them", [["test"], []], "test/a.ts", false],
    ["names of JavaScript's built-in properties", [["__proto__"]], "__proto__/a", true],
  ];
  it.each(cases)("%s", (_, scopes, path, allowed) => {
    expect(mayWrite(scopes, path)).toBe(allowed);
  });
});

describe("a write scope", () => {
  it.each(["test", "**/test", "packages/a/test", ".config", "a b"])("may name %j", (folder) => {
    expect(WriteScope.safeParse([folder]).success).toBe(true);
  });

  it.each(["", "/test", "test/", "../x", "a/../b", ".", "./a", "te*t", "**", "a/**/b", "a\0"])(
    "refuses %j",
    (folder) => {
      expect(WriteScope.safeParse([folder]).success).toBe(false);
    },
  );
});
