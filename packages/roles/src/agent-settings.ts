import { AgentDefinition, PartialBudget } from "@troupe/core";
import { ContextMode, PartialLimits, RetryPolicy, Subagents, VerifierSpec } from "@troupe/core/internal";
import { z } from "zod";
import { lintOutputSchema } from "./output-schema-lint.ts";
import type { Report } from "./report.ts";
import { reportIssue } from "./schema-issue.ts";
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

const definition = AgentDefinition.shape;
const TroupeField = z.strictObject({
  limits: z.preprocess(orAbsent, z.strictObject(PartialLimits.shape).default({})),
  budget: z.preprocess(orAbsent, z.strictObject(PartialBudget.shape).default({})),
  intent: definition.intent,
  writes: z.preprocess((value) => (typeof value === "string" ? names(value) : value), definition.writes),
  retry: z.preprocess(orAbsent, z.strictObject(RetryPolicy.shape).prefault({})),
  contextMode: z.preprocess((value) => (value === "full_history" ? "full" : value), ContextMode.default("task_only")),
  promptFrom: definition.promptFrom,
  temperature: definition.temperature,
  outputSchema: definition.outputSchema,
  domain: definition.domain,
  disabled: definition.disabled,
  workspace: definition.workspace,
  verifiers: z.preprocess(orAbsent, z.array(z.strictObject(VerifierSpec.shape)).default([])),
});

export type TroupeSettings = z.infer<typeof TroupeField>;

/** Reads `subagents:`. Null when it is wrong: the report says where. */
export function readSubagents(field: Field | undefined, report: Report): Subagents | null {
  return readNested(SubagentsField, field, report);
}

/** Reads `troupe:`. Null when it is wrong: the report says where. */
export function readTroupe(field: Field | undefined, report: Report): TroupeSettings | null {
  const settings = readNested(TroupeField, field, report);
  if (field && settings?.outputSchema) lintOutputSchema(settings.outputSchema, field, report);
  return settings;
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
