import { z } from "zod";
import { ContextMode, RetryPolicy } from "../protocol/agent.ts";
import { Token } from "../protocol/ids.ts";
import type { PartialLimits } from "../protocol/limits.ts";
import { agentIdOf } from "../protocol/team.ts";

/** Which results make a batch succeed, and whether they stop the other tasks. */
export type BatchPolicy = { kind: "all" | "any" | "continue" } | { kind: "quorum"; count: number };
export const BatchMode = z.enum(["parallel", "parallel_streaming", "sequential"]);
export type BatchMode = z.infer<typeof BatchMode>;

/** One task of a delegate call, with our field names. */
export interface DelegateTask {
  /** Unique within its batch: `after` and results refer to it. */
  name: string;
  agent: string;
  task: string;
  /** Null: the agent's own default. */
  contextMode: ContextMode | null;
  contextFiles: string[];
  successCriteria: string | null;
  after: string[];
  outputSchema: Record<string, z.core.util.JSONType> | null;
  limits: PartialLimits;
  retry: Partial<RetryPolicy>;
}

export type DelegateCall =
  | { kind: "tasks"; tasks: DelegateTask[]; batch: boolean; mode: BatchMode | null; policy: BatchPolicy }
  | { kind: "cancel"; handles: string[] };

/** The most tasks in one call. `maxChildren` limits the tasks of a whole run. */
export const tasksMax = 1_000;
const taskCharactersMax = 200_000;

const nonEmpty = z.string().trim().min(1, "is empty");
const taskText = z.string().trim().min(1, "say what the agent should do").max(taskCharactersMax);

const count = z.int().positive();
const TaskLimits = z.object({
  max_iterations: count.optional(),
  max_tool_calls: count.optional(),
  max_duration_ms: count.optional(),
  max_tokens: count.optional(),
  max_cost_usd: z.number().positive().optional(),
  max_context_tokens: count.optional(),
});

/** An id, or `team/agent`. */
const AgentName = z.string().overwrite(agentIdOf).pipe(Token);

const TaskRetry = z.object({
  max_attempts: RetryPolicy.shape.maxAttempts.unwrap().optional(),
  backoff_ms: RetryPolicy.shape.backoffMs.unwrap().optional(),
  on: RetryPolicy.shape.on.unwrap().optional(),
  alternative: AgentName.optional(),
});

/** `role`, `subagent_type`, `prompt` and `description` are the names that other delegation tools use. */
const TaskFields = z.object({
  name: nonEmpty.max(100).optional(),
  agent: AgentName.optional(),
  role: AgentName.optional(),
  subagent_type: AgentName.optional(),
  task: taskText.optional(),
  prompt: taskText.optional(),
  description: taskText.optional(),
  context: z.preprocess((mode) => (mode === "full_history" ? "full" : mode), ContextMode.optional()),
  context_files: z.array(nonEmpty.max(1_000)).max(50).default([]),
  success_criteria: z.string().max(taskCharactersMax).optional(),
  after: z.array(nonEmpty.max(100)).max(tasksMax).default([]),
  output_schema: z.record(z.string(), z.json()).optional(),
  limits: TaskLimits.default({}),
  retry: TaskRetry.default({}),
});

const OneTask = TaskFields.refine((fields) => agentOf(fields) !== undefined, {
  path: ["agent"],
  message: "name the agent",
}).refine((fields) => taskOf(fields) !== undefined, { path: ["task"], message: "say what the agent should do" });

const policyHint = "use all, any, continue or quorum";
const Policy = z.preprocess(
  (value) => (typeof value === "string" ? value.trim().toLowerCase() : value),
  z.union([z.string().regex(/^(all|any|continue|quorum([ :]+\d+)?)$/, policyHint), z.object({ quorum: count })], {
    error: policyHint,
  }),
);

const TaskList = z.object({
  tasks: z.array(OneTask).min(1, "give at least one task").max(tasksMax),
  mode: BatchMode.optional(),
  policy: Policy.default("continue"),
  quorum: count.optional(),
});

const Cancel = z.object({ cancel: z.union([nonEmpty.transform((handle) => [handle]), z.array(nonEmpty).min(1)]) });

/**
 * Parses the arguments of a delegate call. An error names the first field that does not fit.
 *
 * @example
 * readDelegateCall({ role: "coder", task: "write hello.md" }); // { call: { kind: "tasks", tasks: [{ agent: "coder", … }] } }
 */
export function readDelegateCall(given: unknown): { call: DelegateCall } | { error: string } {
  const args = withoutBlanks(given);
  const has = (key: string): boolean => isRecord(args) && Object.hasOwn(args, key);
  if (has("cancel")) return parse(Cancel, args, ({ cancel }) => ({ kind: "cancel", handles: cancel }));
  if (has("tasks")) return parse(TaskList, args, batchCallOf);
  return parse(OneTask, args, (fields) => ({
    kind: "tasks",
    tasks: [toTask(fields, agentOf(fields) ?? "")],
    batch: false,
    mode: null,
    policy: { kind: "continue" },
  }));
}

/** Some models fill in every field. `null`, and an empty list beside a task, count as absent. */
function withoutBlanks(args: unknown): unknown {
  if (!isRecord(args)) return args;
  const isTask = ["agent", "role", "subagent_type"].some((key) => typeof args[key] === "string");
  const isBlank = (key: string, value: unknown): boolean =>
    value === null || (isTask && (key === "cancel" || key === "tasks") && Array.isArray(value) && value.length === 0);
  const present = Object.entries(args).filter(([key, value]) => !isBlank(key, value));
  return Object.fromEntries(present.map(([key, value]) => [key, blanksBelow(key, value)]));
}

/** Only these fields are cleaned: an output schema may contain `null` on purpose. */
function blanksBelow(key: string, value: unknown): unknown {
  if (key === "tasks" && Array.isArray(value)) return value.map(withoutBlanks);
  return key === "limits" || key === "retry" ? withoutBlanks(value) : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse<S extends z.ZodType>(
  schema: S,
  args: unknown,
  toCall: (parsed: z.output<S>) => DelegateCall | string,
): { call: DelegateCall } | { error: string } {
  const parsed = schema.safeParse(args);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { error: `${issue?.path.join(".") || "arguments"}: ${issue?.message}` };
  }
  const call = toCall(parsed.data);
  return typeof call === "string" ? { error: call } : { call };
}

function batchCallOf({ tasks, mode, policy, quorum }: z.output<typeof TaskList>): DelegateCall | string {
  const parsed = policyOf(policy, quorum);
  if (typeof parsed === "string") return parsed;
  if (parsed.kind === "quorum" && parsed.count > tasks.length) {
    return `quorum: ${parsed.count} of ${tasks.length} tasks cannot succeed`;
  }
  return {
    kind: "tasks",
    tasks: tasks.map((fields, i) => toTask(fields, `${i + 1}`)),
    batch: true,
    mode: mode ?? null,
    policy: parsed,
  };
}

function policyOf(policy: z.output<typeof Policy>, quorum: number | undefined): BatchPolicy | string {
  if (typeof policy === "object") return { kind: "quorum", count: policy.quorum };
  if (policy === "all" || policy === "any" || policy === "continue") return { kind: policy };
  const named = Number(policy.replace(/\D/g, ""));
  const wanted = named > 0 ? named : quorum;
  return wanted === undefined ? "quorum: say how many of the tasks have to succeed" : { kind: "quorum", count: wanted };
}

type Fields = z.output<typeof TaskFields>;

function agentOf({ agent, role, subagent_type }: Fields): string | undefined {
  return agent ?? role ?? subagent_type;
}

function taskOf({ task, prompt, description }: Fields): string | undefined {
  return task ?? prompt ?? description;
}

function toTask(fields: Fields, name: string): DelegateTask {
  const { context, context_files, limits, retry } = fields;
  return {
    name: fields.name ?? name,
    agent: agentOf(fields) ?? "",
    task: taskOf(fields) ?? "",
    contextMode: context ?? (context_files.length > 0 ? "selective" : null),
    contextFiles: context_files,
    successCriteria: fields.success_criteria?.trim() || null,
    after: fields.after,
    outputSchema: fields.output_schema ?? null,
    limits: compact({
      maxIterations: limits.max_iterations,
      maxToolCalls: limits.max_tool_calls,
      maxDurationMs: limits.max_duration_ms,
      maxTokens: limits.max_tokens,
      maxCostUsd: limits.max_cost_usd,
      maxContextTokens: limits.max_context_tokens,
    }),
    retry: compact({
      maxAttempts: retry.max_attempts,
      backoffMs: retry.backoff_ms,
      on: retry.on,
      alternative: retry.alternative,
    }),
  };
}

/** Drops absent keys. */
function compact<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
