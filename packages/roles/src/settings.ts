import {
  AgentDefinition,
  ContextMode,
  Limits,
  type PartialLimits,
  RetryPolicy,
  Subagents,
  VerifierSpec,
} from "@troupe/core";
import { z } from "zod";
import { fixForNestedKey } from "./keys.ts";
import { type Report, show } from "./report.ts";
import type { Field } from "./yaml-fields.ts";

/** `a, b` is read as a list too, and a key with nothing behind it as not given. */
const names = (value: unknown): unknown =>
  typeof value === "string"
    ? value
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "")
    : (value ?? undefined);

const shape = Subagents.shape;
const SubagentsField = z.strictObject({
  allow: z.preprocess(names, shape.allow),
  deny: z.preprocess(names, shape.deny),
  execution: shape.execution,
  max_concurrent: shape.max_concurrent,
});

const orAbsent = (value: unknown): unknown => value ?? undefined;

const TroupeField = z.strictObject({
  limits: z.preprocess(orAbsent, z.strictObject(Limits.shape).partial().optional()),
  intent: AgentDefinition.shape.intent,
  retry: z.preprocess(orAbsent, z.strictObject(RetryPolicy.shape).prefault({})),
  contextMode: z.preprocess((value) => (value === "full_history" ? "full" : value), ContextMode.default("task_only")),
  workspace: AgentDefinition.shape.workspace,
  verifiers: z.preprocess(orAbsent, z.array(z.strictObject(VerifierSpec.shape)).default([])),
});

export type TroupeSettings = Omit<z.infer<typeof TroupeField>, "limits"> & { limits: PartialLimits };

/** Reads `subagents:`. Null when it is wrong: the report says where. */
export function readSubagents(field: Field | undefined, report: Report): Subagents | null {
  return readNested(SubagentsField, field, report);
}

/** Reads `troupe:`. Null when it is wrong: the report says where. */
export function readTroupe(field: Field | undefined, report: Report): TroupeSettings | null {
  const settings = readNested(TroupeField, field, report);
  if (settings === null) return null;
  const given = isRecord(field?.value) && isRecord(field.value.limits) ? field.value.limits : {};
  // The schema fills in defaults; only what the file itself says may tighten or loosen anything.
  const limits = Object.entries(settings.limits ?? {}).filter(([key]) => Object.hasOwn(given, key));
  return { ...settings, limits: Object.fromEntries(limits) };
}

function readNested<S extends z.ZodType>(schema: S, field: Field | undefined, report: Report): z.output<S> | null {
  if (field && field.value === null) {
    // Taken as absent, a forgotten indentation would lift what the keys below it forbid.
    report.error(field.keyOffset, {
      code: "wrong-type",
      message: `${field.key}: has nothing behind it`,
      fix: "indent the keys below it by two spaces, or remove the line",
    });
    return null;
  }
  const parsed = schema.safeParse(field?.value ?? {});
  if (parsed.success) return parsed.data;
  if (field) for (const issue of parsed.error.issues) reportIssue(issue, field, report);
  return null;
}

function reportIssue(issue: z.core.$ZodIssue, field: Field, report: Report): void {
  const path = [field.key, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys) {
      report.error(field.keyOffsetOf([...issue.path, key]), {
        code: "unknown-key",
        message: `${path.join(".")} has no key ${show(key)}`,
        fix: fixForNestedKey(key, path),
      });
    }
    return;
  }
  report.error(field.offsetOf(issue.path), {
    code:
      issue.code === "invalid_type" ? "wrong-type" : issue.code === "invalid_format" ? "invalid-id" : "invalid-value",
    message: `${path.join(".")} is ${show(valueAt(field.value, issue.path))}; ${wanted(issue)}`,
    fix: fixFor(issue, path),
  });
}

function wanted(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_value") return `wanted is one of ${issue.values.join(", ")}`;
  if (issue.code === "invalid_type") return `wanted is ${kinds[issue.expected] ?? issue.expected}`;
  return issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
}

const kinds: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  array: "a list",
  string: "text",
  object: "keys and values",
  record: "keys and values",
};

function fixFor(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): string {
  const key = String(path.findLast((part) => typeof part === "string"));
  if (issue.code === "invalid_value") return `write ${key}: ${issue.values.join(` or ${key}: `)}`;
  if (issue.code === "too_small") return `write a number of at least ${minimum(issue)}`;
  if (issue.code === "too_big") return `write a number of at most ${issue.maximum}`;
  if (issue.code === "invalid_format") return "use the id of an agent: letters, digits, - and _ only";
  if (issue.code === "invalid_type" && issue.expected === "array") return `write a list, such as ${key}: [a, b]`;
  if (issue.code === "invalid_type" && issue.expected === "object")
    return `put keys below ${key}:, indented by two spaces`;
  return `write ${key}: and the value, or remove the line`;
}

function minimum(issue: z.core.$ZodIssueTooSmall): string {
  return issue.inclusive ? String(issue.minimum) : `more than ${issue.minimum}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) current = isRecord(current) || Array.isArray(current) ? Reflect.get(current, key) : undefined;
  return current;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
