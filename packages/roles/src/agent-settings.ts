import { AgentDefinition, PartialBudget } from "@troupe/core";
import {
  agentIdOf,
  ChildVerifier,
  ContextMode,
  didYouMean,
  Effort,
  handlerProblem,
  IntentPattern,
  ObserverSpec,
  PartialLimits,
  patternConflict,
  RetryPolicy,
  Subagents,
  Trigger,
  VerifierSpec,
} from "@troupe/core/internal";
import { z } from "zod";
import { lintChecks } from "./check-lint.ts";
import { lintOutputSchema } from "./output-schema-lint.ts";
import { formatValue, type ProblemReport } from "./problem-report.ts";
import { reportSchemaIssue } from "./schema-issue.ts";
import type { Target } from "./tool-list.ts";
import type { Field, Fields } from "./yaml-fields.ts";

/** Reads `a, b` as a list, and a key without a value as absent. */
const toNames = (value: unknown): unknown =>
  typeof value === "string"
    ? value
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "")
    : (value ?? undefined);

/** Reads names of agents: `coding/planner` is the agent `planner` of the team `coding`. */
const toAgentIds = (value: unknown): unknown => {
  const names = toNames(value);
  return Array.isArray(names) ? names.map((name) => (typeof name === "string" ? agentIdOf(name) : name)) : names;
};

const shape = Subagents.shape;
const SubagentsField = z.strictObject({
  allow: z.preprocess(toAgentIds, shape.allow),
  deny: z.preprocess(toAgentIds, shape.deny),
  execution: shape.execution,
  max_concurrent: shape.max_concurrent,
});

const definition = AgentDefinition.shape;
const TroupeField = z.strictObject({
  limits: z.strictObject(PartialLimits.shape).default({}),
  budget: z.strictObject(PartialBudget.shape).default({}),
  intent: definition.intent,
  patterns: z.array(z.strictObject(IntentPattern.shape)).max(100).exactOptional(),
  handler: definition.handler,
  writes: z.preprocess((value) => (typeof value === "string" ? toNames(value) : value), definition.writes),
  retry: z.preprocess((value) => value ?? undefined, z.strictObject(RetryPolicy.shape).prefault({})),
  contextMode: z.preprocess((value) => (value === "full_history" ? "full" : value), ContextMode.default("task_only")),
  promptFrom: definition.promptFrom,
  temperature: definition.temperature,
  outputSchema: definition.outputSchema,
  domain: definition.domain,
  disabled: definition.disabled,
  workspace: definition.workspace,
  verifiers: z.array(z.strictObject(VerifierSpec.shape)).default([]),
  childVerifiers: z.array(z.strictObject(ChildVerifier.shape)).exactOptional(),
  triggers: z.array(z.strictObject(Trigger.shape)).exactOptional(),
  observers: z.array(z.strictObject(ObserverSpec.shape)).exactOptional(),
});

export type TroupeSettings = z.infer<typeof TroupeField>;

/** Most files have neither key. Parsing the defaults for each of 1,000 files would take a quarter of the load. */
const defaultSubagents = SubagentsField.parse({});
const defaultTroupe = TroupeField.parse({});

/** Reads `subagents:`. Returns null after an error; the report has it. */
export function readSubagents(field: Field | undefined, report: ProblemReport): Subagents | null {
  return field ? readNested(SubagentsField, field, report) : defaultSubagents;
}

/** Reads `troupe:`. Returns null after an error; the report has it. */
export function readTroupe(field: Field | undefined, report: ProblemReport): TroupeSettings | null {
  const settings = field ? readNested(TroupeField, field, report) : defaultTroupe;
  if (field && settings?.outputSchema) lintOutputSchema(settings.outputSchema, field, report);
  if (field && settings) {
    const { verifiers, childVerifiers = [], observers = [] } = settings;
    lintChecks("verifier", verifiers, { field, key: "verifiers", report });
    lintChecks("verifier", childVerifiers, { field, key: "childVerifiers", report });
    lintChecks("observer", observers, { field, key: "observers", report });
    lintHandler(settings.handler, field, report);
  }
  return settings;
}

/** A program can add handlers of its own, so an unknown one is a warning. */
function lintHandler(handler: string | undefined, field: Field, report: ProblemReport): void {
  const problem = handler === undefined ? null : handlerProblem(handler);
  if (problem) report.warn(field.offsetOf(["handler"]), { code: "unknown-handler", ...problem });
}

function readNested<S extends z.ZodType>(schema: S, field: Field, report: ProblemReport): z.output<S> | null {
  if (field.value === null) {
    // If this counted as absent, a missing indentation would remove the restrictions of the keys below.
    report.error(field.keyOffset, {
      code: "wrong-type",
      message: `${field.key}: has no value`,
      fix: "indent the keys below it by two spaces, or remove the line",
    });
    return null;
  }
  if (reportKeysWithoutValue(field, report)) return null;
  const parsed = parseWithinStack(schema, field.value);
  if (parsed === null) {
    const message = `${field.key}: is nested too deeply`;
    report.error(field.keyOffset, { code: "wrong-type", message, fix: "nest it at most 100 levels deep" });
    return null;
  }
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) reportSchemaIssue(issue, field, report);
  return null;
}

/** Keys below `troupe` that only replace a default. Without a value the default holds. */
const defaultedKeys: ReadonlySet<string> = new Set(["retry", "temperature", "workspace"]);

/**
 * Reports nested keys without a value. If they counted as absent, a limit, a check or a denial would be off without a word.
 * The exception is `allow:`, because it grants nothing. Returns whether there was an error.
 */
function reportKeysWithoutValue(field: Field, report: ProblemReport): boolean {
  const paths = field
    .keysWithoutValue()
    // `lintOutputSchema` reports keys inside of a schema.
    .filter(([key = "", inner]) => !defaultedKeys.has(key) && (key !== "outputSchema" || inner === undefined));
  const isAllow = (path: readonly string[]) => field.key === "subagents" && path.join(".") === "allow";
  for (const path of paths) {
    const message = `${field.key}.${path.join(".")}: has no value`;
    const offset = field.keyOffsetOf(path);
    if (isAllow(path)) {
      const fix = "write allow: [reviewer] with the ids of agents, or allow: [] for none";
      report.warn(offset, { code: "empty-allow", message: `${message}, so the agent cannot delegate`, fix });
    } else {
      const fix = `write ${path.at(-1)}: and the value, or remove the line`;
      report.error(offset, { code: "wrong-type", message, fix });
    }
  }
  return !paths.every(isAllow);
}

/** Null for a value that is nested so deeply that parsing it exhausts the stack. */
function parseWithinStack<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> | null {
  try {
    return schema.safeParse(value);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Other names of efforts, mapped to the next lower effort. */
const effortSynonyms: Readonly<Record<string, Effort>> = { minimal: "low", xhigh: "high" };

/** The largest number of each effort. Up to 100 a number is a percentage, above 100 a number of thinking tokens. */
const numericEfforts = [
  { max: 0, effort: "none" },
  { max: 33, effort: "low" },
  { max: 66, effort: "medium" },
  { max: 99, effort: "high" },
  { max: 100, effort: "max" },
  { max: 4_096, effort: "low" },
  { max: 16_384, effort: "medium" },
  { max: 32_768, effort: "high" },
  { max: Number.POSITIVE_INFINITY, effort: "max" },
] as const;

/** Reads `effort:`. Returns null if it is absent, or after an error; the report has it. */
export function readEffort(field: Field | undefined, report: ProblemReport): Effort | null {
  if (!field || field.value === null) return null;
  const { value } = field;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) {
    return numericEfforts.find(({ max }) => value <= max)?.effort ?? null;
  }
  const word = String(value).toLowerCase();
  const known = Effort.safeParse(word);
  if (typeof value === "string" && known.success) return known.data;
  if (Object.hasOwn(effortSynonyms, word)) return effortSynonyms[word] ?? null;
  report.error(field.valueOffset, {
    code: "invalid-value",
    message: `effort is ${formatValue(value)}; expected ${Effort.options.join(", ")}, or a whole number`,
    fix: didYouMean(word, [...Effort.options, "xhigh"]) ?? "write effort: medium, or remove the line",
  });
  return null;
}

/** Reports settings that are valid one by one but contradict each other. */
export function reportConflicts(
  definition: AgentDefinition,
  targets: readonly Target[],
  fields: Fields,
  report: ProblemReport,
): void {
  const { id, domain, contextMode, retry } = definition;
  const offsetOf = (...path: string[]): number => fields.get("troupe")?.offsetOf(path) ?? 0;
  const [target] = targets;
  if (domain !== null && target) {
    report.error(target.offset, {
      code: "domain-agent-delegates",
      message: `${id} has a domain (${domain}), so it never delegates, but it names ${target.id} as a subagent`,
      fix: "remove its subagents, or remove the line domain:",
    });
  }
  const conflict = patternConflict(definition);
  if (conflict) {
    const { key, message, fix } = conflict;
    const code = key === "intent" ? "intent-without-patterns" : `${key}-without-intent`;
    report.error(offsetOf(key), { code, message, fix });
  }
  if (domain !== null && contextMode !== "task_only") {
    report.warn(offsetOf("contextMode"), {
      code: "ignored-context-mode",
      message: `contextMode: ${contextMode} has no effect: an agent with a domain receives only its message`,
      fix: "remove the line",
    });
  }
  reportUnreachable(definition, offsetOf, report);
  if (retry.alternative === id) {
    report.error(offsetOf("retry", "alternative"), {
      code: "self-alternative",
      message: `${id} is its own alternative, but an alternative must be another agent`,
      fix: "name another agent, or remove the line; maxAttempts sets the number of its own attempts",
    });
  }
}

/** Reports triggers and checks for agents that the agent may not delegate to: they would never apply. */
function reportUnreachable(
  { subagents: { allow, deny }, triggers = [], childVerifiers = [] }: AgentDefinition,
  offsetOf: (...path: string[]) => number,
  report: ProblemReport,
): void {
  const mayAsk = (agent: string): boolean => !deny.includes(agent) && (allow.includes(agent) || allow.includes("*"));
  const reportAgents = (key: "triggers" | "childVerifiers", agents: readonly (string | null)[]): void => {
    for (const agent of agents) {
      if (agent === null || mayAsk(agent)) continue;
      report.error(offsetOf(key), {
        code: "unreachable-agent",
        message: `troupe.${key} names ${agent}, and this agent may not delegate to it`,
        fix: `add ${agent} to subagents.allow, or name another agent`,
      });
    }
  };
  reportAgents(
    "triggers",
    triggers.map(({ agent }) => agent),
  );
  reportAgents(
    "childVerifiers",
    childVerifiers.map(({ agent }) => agent),
  );
}
