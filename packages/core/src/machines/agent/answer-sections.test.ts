/** An answer in Markdown is read under the headings that sub-agents are asked for; its facts are never taken from it. */
import { describe, expect, test } from "vitest";
import { reads, reply, type SpecChanges } from "../fixtures.test-helper.ts";
import { drive } from "../machine-driver.test-helper.ts";
import { parseJsonAnswer, sectionsOf } from "./answer-sections.ts";

const answer = `I looked at all of it.

## Summary
Two bugs in the parser.
Both are old.

## Findings
- the first bug
  goes on here
- the second bug

1. and a numbered one

## Warnings:
None.

### Suggestions
* write tests
+ read them

## Appendix
- not a finding
`;

describe("the sections of an answer", () => {
  test("are read under their headings", () => {
    expect(sectionsOf(answer)).toEqual({
      summary: "Two bugs in the parser.\nBoth are old.",
      findings: ["the first bug goes on here", "the second bug", "and a numbered one"],
      warnings: [],
      suggestions: ["write tests", "read them"],
      confidence: null,
    });
  });

  test.each<[string, number | null]>([
    ["0.8", 0.8],
    ["- 0.8, because both bugs were reproduced", 0.8],
    ["80 %", 0.8],
    ["100%", 1],
    ["0", 0],
    ["1.5", null],
    ["8/10", null],
    ["0.8/1", null],
    ["high", null],
    ["", null],
  ])("a confidence of %j is read as %j", (written, confidence) => {
    expect(sectionsOf(`## Summary\nDone.\n\n## Confidence\n${written}\n`).confidence).toBe(confidence);
  });

  test.each<[string, string, string[]]>([
    ["a paragraph is one item", "## Findings\none bug\nin the parser", ["one bug in the parser"]],
    ["several paragraphs are several items", "## Findings\none\n\ntwo", ["one", "two"]],
    ["lines of Windows", "## Findings\r\n- one\r\n- two\r\n", ["one", "two"]],
    ["any case", "# FINDINGS\n- one", ["one"]],
    ["nothing there", "## Findings\n\n## Summary\nx", []],
    ["no headings at all", "- one\n- two", []],
    ["a heading of several words is text", "## Findings of today\n- one", []],
    ["a heading of several words ends it", "## Findings\n- one\n## What I did\n- two", ["one"]],
    [
      "a deeper heading divides it",
      "## Findings\n### Grave ones\n- one\n### Others\n- two\n# End\n- three",
      ["one", "two"],
    ],
    ["under a title", "# Report\n## Findings\n- one", ["one"]],
    ["in two places", "## Findings\n- one\n## Other\nx\n## Findings\n- two", ["one", "two"]],
    [
      "a comment in code is not a heading",
      "## Findings\n- one\n```sh\n# not a heading\n```\n- two",
      ["one ```sh # not a heading ```", "two"],
    ],
    ["a longer item is truncated", `## Findings\n- ${"x".repeat(3_000)}`, ["x".repeat(2_000)]],
  ])("%s", (_, text, findings) => {
    expect(sectionsOf(text).findings).toEqual(findings);
  });

  test.each(["None", "none.", "No", "nothing", "N/A", "-", "—"])("%j is an empty list", (word) => {
    expect(sectionsOf(`## Warnings\n${word}\n\n## Suggestions\n- ${word}`)).toMatchObject({
      warnings: [],
      suggestions: [],
    });
  });

  test("are limited in number and length", () => {
    const text = `## Findings\n${Array.from({ length: 150 }, (_, i) => `- ${i}`).join("\n")}`;
    expect(sectionsOf(text).findings).toHaveLength(100);
  });
});

describe("JSON in an answer", () => {
  test.each<[string, string, unknown]>([
    ["the whole answer", ' {"a": 1}\n', { a: 1 }],
    ["in a fence", 'Here it is:\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
    ["in a fence without a language", "```\n[1, 2]\n```", [1, 2]],
    ["null is a value", "null", null],
    ["none", "there is none", undefined],
    ["broken", '```json\n{"a": 1\n```', undefined],
  ])("%s", (_, text, data) => {
    expect(parseJsonAnswer(text)).toEqual(data);
  });
});

const schema = { type: "object" };

describe("the response", () => {
  test("has the sections, and its own words as details", () => {
    const d = drive();
    d.feed(reply(1, answer));
    expect(d.response()).toMatchObject({
      status: "completed",
      summary: "Two bugs in the parser.\nBoth are old.",
      details: answer,
      findings: ["the first bug goes on here", "the second bug", "and a numbered one"],
      suggestions: ["write tests", "read them"],
      data: null,
    });
  });

  test("adds the warnings of the answer to those of the runtime, without duplicates", () => {
    const d = drive();
    d.feed(reply(1, "## Warnings\n- careful\n- careful", [], { stopReason: "max_tokens" }));
    expect(d.response().warnings).toEqual([expect.stringContaining("cut off"), "careful"]);
  });

  test.each<[string, SpecChanges, Parameters<typeof drive>[1]]>([
    ["its parent", {}, { outputSchema: schema }],
    ["its own definition", { definition: { outputSchema: schema } }, {}],
  ])("has data if %s has a schema, and the data is checked", (_, changes, request) => {
    const d = drive(changes, request);
    d.look();
    expect(d.on(reply(1, '```json\n{"bugs": 2}\n```'))).toMatchObject({
      state: "respond.verifying",
      started: ["verify/1"],
    });
    expect(d.effect("verify").response).toMatchObject({ status: "completed", data: { bugs: 2 } });
  });

  test("has no output if the answer is not JSON: the check reports that", () => {
    const d = drive({}, { outputSchema: schema });
    d.feed(reply(1, "I could not"));
    expect(d.effect("verify").response.data).toBeNull();
  });

  test("has no output without a schema", () => {
    const d = drive();
    d.feed(reply(1, '{"bugs": 2}'));
    expect(d.response().data).toBeNull();
  });

  test.each<[string, Parameters<typeof drive>[1], string, number | null]>([
    ["a heading", {}, "## Summary\nDone.\n## Confidence\n0.7", 0.7],
    ["nothing", {}, "done", null],
  ])("has the confidence that its answer states: %s", (_, request, text, confidence) => {
    const d = drive({}, request);
    d.feed(reply(1, text));
    expect(d.response().confidence).toBe(confidence);
  });

  test.each<[string, number | null]>([
    ['{"bugs": 2, "confidence": 0.4}', 0.4],
    ['{"bugs": 2, "confidence": 40}', null],
    ["[]", null],
  ])("has the confidence of the field of an answer by schema: %s", (text, confidence) => {
    const d = drive({}, { outputSchema: schema });
    d.feed(reply(1, text));
    expect(d.effect("verify").response.confidence).toBe(confidence);
  });

  test("has no confidence where the run does not complete, whatever its last text states", () => {
    const d = drive({ limits: { maxIterations: 1 } });
    d.feed(reply(1, "## Confidence\n1", reads(1)));
    expect(d.response()).toMatchObject({ success: false, confidence: null });
  });

  test("names its domain", () => {
    const d = drive({ definition: { domain: "email" } });
    d.feed(reply(1, "sent"));
    expect(d.response().domain).toBe("email");
  });
});
