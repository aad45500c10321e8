import type { ChangeRow } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { groupByFile, parseDiff } from "./diff.ts";

const shown = (diff: string) =>
  parseDiff(diff).map(({ kind, text, before, after }) => `${kind} ${before ?? "-"} ${after ?? "-"} ${text}`);

describe("a diff", () => {
  it("has the line numbers of both files, from hunk to hunk", () => {
    expect(shown("@@ -3,3 +3,4 @@ head\n a\n-b\n+c\n+d\n e\n@@ -20 +21 @@\n-x\n+y\n")).toEqual([
      "hunk - - @@ -3,3 +3,4 @@ head",
      "same 3 3 a",
      "removed 4 - b",
      "added - 4 c",
      "added - 5 d",
      "same 5 6 e",
      "hunk - - @@ -20 +21 @@",
      "removed 20 - x",
      "added - 21 y",
    ]);
  });

  it.each([
    ["an empty diff", "", []],
    [
      "no line end at its end",
      "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b",
      ["hunk - - @@ -1 +1 @@", "removed 1 - a", "note - - No newline at end of file", "added - 1 b"],
    ],
    [
      "lines that are signs themselves",
      "@@ -1,2 +1,2 @@\n--- a\n+++ b\n \n",
      ["hunk - - @@ -1,2 +1,2 @@", "removed 1 - -- a", "added - 1 ++ b", "same 2 2 "],
    ],
    ["another text", "Binary files differ", ["same 1 1 Binary files differ"]],
  ])("%s", (_, diff, lines) => {
    expect(shown(diff)).toEqual(lines);
  });
});

describe("changed files", () => {
  const row = (id: number, path: string, kind: ChangeRow["kind"], linesAdded: number): ChangeRow => {
    const by = { session: "s", run: "r", agent: "coder", step: 1, call: 0, tool: "edit", at: "", cut: false };
    return { id, path, kind, linesAdded, linesRemoved: 1, diff: "", ...by };
  };

  it("appear once each, with the sums of their lines", () => {
    const rows = [
      row(1, "a", "created", 2),
      row(2, "b", "modified", 1),
      row(3, "a", "modified", 3),
      row(4, "b", "deleted", 0),
    ];
    expect(
      groupByFile(rows).map(({ path, kind, linesAdded, linesRemoved, changes }) => [
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

  it("are marked if one of their changes is", () => {
    const rows = [
      row(1, "a", "modified", 1),
      { ...row(2, "b", "modified", 1), runsLater: "runs" },
      row(3, "b", "modified", 1),
    ];
    expect(groupByFile(rows).map(({ runsLater }) => runsLater)).toEqual([null, "runs"]);
  });
});
