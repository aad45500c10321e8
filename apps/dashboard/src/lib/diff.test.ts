import type { ChangeRow } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { byFile, readDiff } from "./diff.ts";

const shown = (diff: string) =>
  readDiff(diff).map(({ kind, text, before, after }) => `${kind} ${before ?? "-"} ${after ?? "-"} ${text}`);

describe("a difference", () => {
  it("has the line numbers of both files, from place to place", () => {
    expect(shown("@@ -3,3 +3,4 @@ head\n a\n-b\n+c\n+d\n e\n@@ -20 +21 @@\n-x\n+y\n")).toEqual([
      "place - - @@ -3,3 +3,4 @@ head",
      "same 3 3 a",
      "removed 4 - b",
      "added - 4 c",
      "added - 5 d",
      "same 5 6 e",
      "place - - @@ -20 +21 @@",
      "removed 20 - x",
      "added - 21 y",
    ]);
  });

  it.each([
    ["nothing", "", []],
    [
      "no line end at its end",
      "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b",
      ["place - - @@ -1 +1 @@", "removed 1 - a", "note - - No newline at end of file", "added - 1 b"],
    ],
    [
      "lines that are signs themselves",
      "@@ -1,2 +1,2 @@\n--- a\n+++ b\n \n",
      ["place - - @@ -1,2 +1,2 @@", "removed 1 - -- a", "added - 1 ++ b", "same 2 2 "],
    ],
    ["what is none", "Binary files differ", ["same 1 1 Binary files differ"]],
  ])("%s", (_, diff, lines) => {
    expect(shown(diff)).toEqual(lines);
  });
});

describe("files of changes", () => {
  const row = (id: number, path: string, kind: ChangeRow["kind"], linesAdded: number): ChangeRow => {
    const by = { session: "s", run: "r", agent: "coder", step: 1, call: 0, tool: "edit", at: "", cut: false };
    return { id, path, kind, linesAdded, linesRemoved: 1, diff: "", ...by };
  };

  it("come once each, with the sums of their lines", () => {
    const rows = [
      row(1, "a", "created", 2),
      row(2, "b", "modified", 1),
      row(3, "a", "modified", 3),
      row(4, "b", "deleted", 0),
    ];
    expect(
      byFile(rows).map(({ path, kind, linesAdded, linesRemoved, changes }) => [
        path,
        kind,
        linesAdded,
        linesRemoved,
        changes.length,
      ]),
    ).toEqual([
      ["a", "created", 5, 2, 2],
      ["b", "deleted", 1, 2, 2],
    ]);
  });
});
