import { expectedDuration } from "@troupe/core/internal";
import type { z } from "zod";
import { fixForNestedKey } from "./agent-keys.ts";
import { formatValue, type ProblemReport } from "./problem-report.ts";
import { type Field, isMapping } from "./yaml-fields.ts";

/** Reports one issue of a schema in the value of a field: its location, the expected value, and a fix. */
export function reportSchemaIssue(issue: z.core.$ZodIssue, field: Field, report: ProblemReport): void {
  const path = [field.key, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys) {
      report.error(field.keyOffsetOf([...issue.path, key]), {
        code: "unknown-key",
        message: `${formatValue(key)} is not a key of ${path.join(".")}`,
        fix: fixForNestedKey(key, path),
      });
    }
    return;
  }
  report.error(field.offsetOf(issue.path), {
    code: codeOf(issue),
    message: `${path.join(".")} is ${formatValue(valueAt(field.value, issue.path))}; ${expected(issue)}`,
    fix: fixFor(issue, path),
  });
}

function codeOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type" || expectedDuration(issue) !== null) return "wrong-type";
  return issue.code === "invalid_format" ? "invalid-id" : "invalid-value";
}

function expected(issue: z.core.$ZodIssue): string {
  const duration = expectedDuration(issue);
  if (duration !== null) return duration;
  if (issue.code === "invalid_value") return `expected one of ${issue.values.join(", ")}`;
  if (issue.code === "invalid_type") return `expected ${typeNames[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_format") return "expected at most 128 letters, digits, - and _";
  if (issue.code === "invalid_union") return "expected a value that JSON supports";
  return issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
}

const typeNames: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  array: "a list",
  string: "text",
  boolean: "true or false",
  object: "keys and values",
  record: "keys and values",
};

function fixFor(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): string {
  const key = String(path.findLast((part) => typeof part === "string"));
  if (expectedDuration(issue) !== null) return `write ${key}: 5m, or the milliseconds: ${key}: 300000`;
  if (issue.code === "invalid_value") return `write ${key}: ${issue.values.join(` or ${key}: `)}`;
  if (issue.code === "too_small") return `write a number ${minimum(issue)}`;
  if (issue.code === "too_big") return `write a number of at most ${issue.maximum}`;
  if (issue.code === "invalid_format")
    return `write ${key === "domain" ? "it in" : "the id of an agent:"} letters, digits, - and _ only`;
  if (issue.code === "invalid_type" && issue.expected === "array") return `write a list, such as ${key}: [a, b]`;
  if (issue.code === "invalid_type" && issue.expected === "boolean") return `write ${key}: true or ${key}: false`;
  if (issue.code === "invalid_type" && (issue.expected === "object" || issue.expected === "record"))
    return `put keys below ${key}:, indented by two spaces`;
  return `write ${key}: and the value, or remove the line`;
}

function minimum(issue: z.core.$ZodIssueTooSmall): string {
  return issue.inclusive ? `of at least ${issue.minimum}` : `above ${issue.minimum}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path)
    current = isMapping(current) || Array.isArray(current) ? Reflect.get(current, key) : undefined;
  return current;
}
