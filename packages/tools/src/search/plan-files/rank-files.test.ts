import { describe, expect, it } from "vitest";
import { importNamesOf, type RelatedFiles, withRelatedFiles } from "./rank-files.ts";

const file = (path: string, score: number) => ({ path, score, reasons: [] });
const ranked = [file("b/sum.test.ts", 10), file("b/sum.ts", 8), file("c.ts", 1)];
const related: RelatedFiles = {
  best: [file("b/sum.ts", 8)],
  paths: ["a/sum.test.ts", "b/sum.test.ts", "b/sum.ts", "c.ts", "d.ts"],
  importers: new Map([["sum", ["b/sum.ts", "b/sum.test.ts", "c.ts", "d.ts"]]]),
  aboutTests: false,
};

describe("files related to the best files", () => {
  it("come after them: the nearest test, then the importers", () => {
    expect(withRelatedFiles(ranked, related).map(({ path, reasons }) => [path, ...reasons])).toEqual([
      ["b/sum.ts"],
      ["b/sum.test.ts", "tests sum.ts"],
      ["c.ts", "imports sum.ts"],
      ["d.ts", "imports sum.ts"],
    ]);
  });

  it("the test comes first for a goal about tests", () => {
    expect(withRelatedFiles(ranked, { ...related, aboutTests: true })[0]?.path).toBe("b/sum.test.ts");
  });

  it("does not change the ranking that it was given", () => {
    withRelatedFiles(ranked, related);
    expect(ranked[0]).toEqual(file("b/sum.test.ts", 10));
  });
});

it("generic names have no importers", () => {
  expect(
    importNamesOf([file("a/index.ts", 3), file("a/sum.ts", 2), file("b/sum.ts", 1), file("README.md", 1)]),
  ).toEqual(["sum"]);
});
