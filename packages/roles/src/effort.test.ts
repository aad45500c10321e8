import { describe, expect, test } from "vitest";
import { parseAgent } from "./parse-agent.ts";

const parse = (effort: string) =>
  parseAgent({
    path: "a.md",
    origin: "project",
    text: `---\nname: a\ndescription: d\neffort: ${effort}\n---\nDo it.\n`,
  });

test.for<[string, string | null]>([
  ["", null],
  ["none", "none"],
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["max", "max"],
  ["High", "high"],
  ["xhigh", "high"],
  ["minimal", "low"],
  ["0", "none"],
  ["20", "low"],
  ["50", "medium"],
  ["80", "high"],
  ["100", "max"],
  ["2000", "low"],
  ["10000", "medium"],
  ["32000", "high"],
  ["100000", "max"],
])("effort: %s is %s", ([written, effort]) => {
  const { definition, problems } = parse(written);
  expect(problems).toEqual([]);
  expect(definition?.effort).toBe(effort);
});

describe("an effort that is none is told with its place", () => {
  test.for([
    ["hgh", "did you mean high?"],
    ["-1", "write effort: medium, or remove the line"],
    ["2.5", "write effort: medium, or remove the line"],
    ["[low]", "low"],
    ["constructor", "write effort: medium, or remove the line"],
  ])("%s", ([written = "", fix]) => {
    const { definition, problems } = parse(written);
    expect(definition).toBeNull();
    expect(problems).toMatchObject([
      { severity: "error", line: 4, column: 9, fix: expect.stringContaining(fix ?? "") },
    ]);
  });
});
