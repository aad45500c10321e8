import { AgentDefinition } from "@troupe/core";
import { AgentProblem } from "@troupe/core/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMsOf } from "./cpu-time.test-helper.ts";
import { parseAgent } from "./parse-agent.ts";

// Agent files can have any contents. Parsing always ends soon, never throws, and reports its problems.

/** Any text, halves of surrogates too. The unit "binary" of `fc.string` takes a second of each process to list all characters. */
const anyText = fc.array(fc.nat(0xffff), { maxLength: 40 }).map((units) => String.fromCharCode(...units));

const line = fc.oneof(
  fc.constantFrom(
    "---",
    "--- ",
    "---js",
    "name: a",
    "name: *",
    "id: x",
    "description: Use: it: so",
    "description: |",
    "  more",
    "tools: [read",
    "tools: Agent(b), Bash(x",
    "tools:",
    "  - read",
    "subagents:",
    "  allow: [b, *c]",
    "subagents: {allow: &x [a], deny: *x}",
    "troupe: {limits: {maxIterations: 1e999}}",
    "troupe: {outputSchema: {type: [object, x], properties: {__proto__: [a]}, required: [1]}, disabled: on}",
    "troupe: {domain: d, budget: {tokens: -0}, retry: {alternative: a}, contextMode: full}",
    "  outputSchema:",
    "    $ref: '#'",
    "    properties: {constructor: {enum: a}}",
    "troupe:",
    "  limits: !!map {}",
    "? [a]",
    "<<: {name: b}",
    "__proto__: {toString: 1}",
    "constructor: x",
    "%YAML 1.1",
    "...",
    "\t",
    "",
  ),
  anyText,
  fc.string({ unit: fc.constantFrom(..."-:[]{}&*!|>'\"%@`,?# \t\r\na"), maxLength: 40 }),
);

const file = fc
  .tuple(fc.boolean(), fc.array(line, { maxLength: 14 }), fc.constantFrom("\n", "\r\n"))
  .map(([fenced, lines, ending]) => (fenced ? ["---", ...lines, "---", "Do it."] : lines).join(ending));

test("500 fuzzed files: no crash, and either a valid definition or an error with its place", () => {
  fc.assert(
    fc.property(file, (text) => {
      const { definition, problems } = parseAgent({ path: "f.md", origin: "project", text });
      const lines = text.replace(/^\uFEFF/, "").split("\n");
      for (const problem of problems) {
        AgentProblem.parse(problem);
        expect(problem.line).toBeLessThanOrEqual(lines.length);
        expect(problem.column).toBeLessThanOrEqual((lines[problem.line - 1] ?? "").length + 2);
      }
      if (definition) AgentDefinition.parse(definition);
      expect(problems.some(({ severity }) => severity === "error")).toBe(definition === null);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["brackets", "a: ".concat("[".repeat(30_000))],
  ["braces", "a: ".concat("{".repeat(30_000))],
  ["dashes", "- ".repeat(15_000)],
  ["tags", `a: ${"! ".repeat(15_000)}`],
  ["question marks", "? ".repeat(15_000)],
  ["keys", Array.from({ length: 4_000 }, (_, i) => `k${i}: x`).join("\n")],
  ["bad escapes", `a: "${"\\u".repeat(15_000)}`],
  ["colons in a description", `description: ${"a: ".repeat(10_000)}`],
  ["aliases upon aliases", Array.from({ length: 30 }, (_, i) => `k${i}: &k${i} [*k${i - 1}, *k${i - 1}]`).join("\n")],
  ["parentheses", `tools: ${"(".repeat(30_000)}`],
  ["commas", `tools: ${"a,".repeat(15_000)}`],
  ["known keys, broken", `description: ${"\ntools: [".repeat(3_000)}`],
])("a hostile file of %s takes less than a second", (_name, yaml) => {
  const text = `---\n${yaml}\n---\nx`;
  expect(cpuMsOf(() => void parseAgent({ path: "f.md", origin: "project", text }))).toBeLessThan(1_000);
});
