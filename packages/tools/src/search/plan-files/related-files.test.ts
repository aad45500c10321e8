import { describe, expect, it } from "vitest";
import { type Relations, subjectsOf, withRelated } from "./related-files.ts";

const file = (path: string, score: number) => ({ path, score, reasons: [] });
const ranked = [file("b/sum.test.ts", 10), file("b/sum.ts", 8), file("c.ts", 1)];
const relations: Relations = {
  best: [file("b/sum.ts", 8)],
  paths: ["a/sum.test.ts", "b/sum.test.ts", "b/sum.ts", "c.ts", "d.ts"],
  importers: new Map([["sum", ["b/sum.ts", "b/sum.test.ts", "c.ts", "d.ts"]]]),
  aboutTests: false,
};

describe("what is related to the best files", () => {
  it("comes after them: the nearest test, then those that import them", () => {
    expect(withRelated(ranked, relations).map(({ path, reasons }) => [path, ...reasons])).toEqual([
      ["b/sum.ts"],
      ["b/sum.test.ts", "tests sum.ts"],
      ["c.ts", "imports sum.ts"],
      ["d.ts", "imports sum.ts"],
    ]);
  });

  it("the test before them, where tests are what is asked for", () => {
    expect(withRelated(ranked, { ...relations, aboutTests: true })[0]?.path).toBe("b/sum.test.ts");
  });

  it("leaves what was ranked as it was", () => {
    withRelated(ranked, relations);
    expect(ranked[0]).toEqual(file("b/sum.test.ts", 10));
  });
});

it("names that say nothing are nobody's subject", () => {
  expect(subjectsOf([file("a/index.ts", 3), file("a/sum.ts", 2), file("b/sum.ts", 1), file("README.md", 1)])).toEqual([
    "sum",
  ]);
});
