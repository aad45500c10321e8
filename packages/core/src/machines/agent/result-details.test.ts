/** The model reads each text of a child's result once; the response and its JSON fields stay complete. */
import { describe, expect, test } from "vitest";
import { resultOf } from "../../delegation/result.ts";
import { toDelegationResult } from "../../protocol/response.ts";
import { aResponse } from "../fixtures.test-helper.ts";
import { detailsIn } from "./result-details.ts";

const sections = `## Summary
Two bugs.

## Details
Both are in the parser.

## Findings
- one
- two

## Warnings
- nothing was run

## Suggestions
- mend them

## Confidence
0.8`;

const response = aResponse({
  summary: "Two bugs.",
  details: sections,
  warnings: ["nothing was run", "the machine was slow"],
  suggestions: ["mend them"],
  confidence: 0.8,
});
const once = detailsIn({ readsTextOnce: true });

describe("details", () => {
  test("that equal the summary are empty, and no field is missing", () => {
    const same = aResponse({ summary: "All is well.", details: "All is well.\n" });
    expect(resultOf(same, once)).toMatchObject({ summary: "All is well.", details: "" });
    expect(Object.keys(resultOf(same, once))).toEqual(expect.arrayContaining(Object.keys(toDelegationResult(same))));
    expect(toDelegationResult(same).details).toBe("All is well.\n");
  });

  test("leave out the sections that other fields have", () => {
    expect(resultOf(response, once).details).toBe("## Details\nBoth are in the parser.\n\n## Findings\n- one\n- two");
  });

  test.each([
    ["a summary that was cut", { summary: "Two…" }, "## Summary\nTwo bugs."],
    ["warnings that were left out", { warnings: [] }, "## Warnings\n- nothing was run"],
    ["suggestions that were cut", { suggestions: ["mend"] }, "## Suggestions\n- mend them"],
    ["another confidence", { confidence: null }, "## Confidence\n0.8"],
  ])("keep the section of %s", (_, changes, section) => {
    expect(resultOf({ ...response, ...changes }, once).details).toContain(section);
  });

  test("are complete for a run of an earlier version", () => {
    expect(resultOf(response, detailsIn({})).details).toBe(sections);
  });
});
