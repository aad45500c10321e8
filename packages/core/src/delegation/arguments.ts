import { z } from "zod";
import { ContextMode, RetryPolicy } from "../protocol/agent.ts";
import { Token } from "../protocol/ids.ts";
import type { PartialLimits } from "../protocol/limits.ts";

/** When a batch counts as done, and what becomes of the others then. */
export type BatchPolicy = { kind: "all" | "any" | "continue" } | { kind: "quorum"; count: number };
export const BatchMode = z.enum(["parallel", "parallel_streaming", "sequential"]);
export type BatchMode = z.infer<typeof BatchMode>;

/** One task of a delegate call, in our words, whatever the model called them. */
export interface DelegateTask {
  /** Unique within its batch: what `after` and results refer to. */
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

/** The most tasks in one call; how many a run may ask for in all is among its limits. */
export const tasksMax = 1_000;
const taskCharactersMax = 200_000;

const words = z.string().trim().min(1, "is empty");
const taskWords = z.string().trim().min(1, "say what the agent should do").max(taskCharactersMax);

const count = z.int().positive();
const Tighter = z.object({
  max_iterations: count.optional(),
  max_tool_calls: count.optional(),
  max_duration_ms: count.optional(),
  max_tokens: count.optional(),
  max_cost_usd: z.number().positive().optional(),
  max_context_tokens: count.optional(),
});

const Retry = z.object({
  max_attempts: RetryPolicy.shape.maxAttempts.unwrap().optional(),
  backoff_ms: RetryPolicy.shape.backoffMs.unwrap().optional(),
  on: RetryPolicy.shape.on.unwrap().optional(),
  alternative: Token.optional(),
});

/** `role` and `subagent_type`, `prompt` and `description` are other tools' words for the same. */
const TaskFields = z.object({
  name: words.max(100).optional(),
  agent: Token.optional(),
  role: Token.optional(),
  subagent_type: Token.optional(),
  task: taskWords.optional(),
  prompt: taskWords.optional(),
  description: taskWords.optional(),
  context: z.preprocess((mode) => (mode === "full_history" ? "full" : mode), ContextMode.optional()),
  context_files: z.array(words.max(1_000)).max(50).default([]),
  success_criteria: z.string().max(taskCharactersMax).optional(),
  after: z.array(words.max(100)).max(tasksMax).default([]),
  output_schema: z.record(z.string(), z.json()).optional(),
  limits: Tighter.default({}),
  retry: Retry.default({}),
});

const OneTask = TaskFields.refine((fields) => agentOf(fields) !== undefined, {
  path: ["agent"],
  message: "name the agent",
}).refine((fields) => taskOf(fields) !== undefined, { path: ["task"], message: "say what the agent should do" });

const policyWords = "use all, any, continue or quorum";
const Policy = z.preprocess(
  (value) => (typeof value === "string" ? value.trim().toLowerCase() : value),
  z.union([z.string().regex(/^(all|any|continue|quorum([ :]+\d+)?)$/, policyWords), z.object({ quorum: count })], {
    error: policyWords,
  }),
);

const Many = z.object({
  tasks: z.array(OneTask).min(1, "give at least one task").max(tasksMax),
  mode: BatchMode.optional(),
  policy: Policy.default("continue"),
  quorum: count.optional(),
});

const Cancel = z.object({ cancel: z.union([words.transform((handle) => [handle]), z.array(words).min(1)]) });

/**
 * Reads the arguments of a delegate call, under whatever name it came. Says in one line what does not fit.
 *
 * @example
 * readDelegateCall({ role: "coder", task: "write hello.md" }); // { call: { kind: "tasks", tasks: [{ agent: "coder", … }] } }
 */
export function readDelegateCall(given: unknown): { call: DelegateCall } | { error: string } {
  const args = withoutBlanks(given);
  const has = (key: string): boolean => isRecord(args) && Object.hasOwn(args, key);
  if (has("cancel")) return read(Cancel, args, ({ cancel }) => ({ kind: "cancel", handles: cancel }));
  if (has("tasks")) return read(Many, args, manyOf);
  return read(OneTask, args, (fields) => ({
    kind: "tasks",
    tasks: [toTask(fields, agentOf(fields) ?? "")],
    batch: false,
    mode: null,
    policy: { kind: "continue" },
  }));
}

/** Some models fill in every field there is: `null`, or no handles beside a task, says nothing. */
function withoutBlanks(args: unknown): unknown {
  if (!isRecord(args)) return args;
  const isTask = ["agent", "role", "subagent_type"].some((key) => typeof args[key] === "string");
  const isBlank = (key: string, value: unknown): boolean =>
    value === null || (isTask && (key === "cancel" || key === "tasks") && Array.isArray(value) && value.length === 0);
  const said = Object.entries(args).filter(([key, value]) => !isBlank(key, value));
  return Object.fromEntries(said.map(([key, value]) => [key, blanksBelow(key, value)]));
}

/** An output schema means its nulls. */
function blanksBelow(key: string, value: unknown): unknown {
  if (key === "tasks" && Array.isArray(value)) return value.map(withoutBlanks);
  return key === "limits" || key === "retry" ? withoutBlanks(value) : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function read<S extends z.ZodType>(
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

function manyOf({ tasks, mode, policy, quorum }: z.output<typeof Many>): DelegateCall | string {
  const read = policyOf(policy, quorum);
  if (typeof read === "string") return read;
  if (read.kind === "quorum" && read.count > tasks.length) {
    return `quorum: ${read.count} of ${tasks.length} tasks cannot succeed`;
  }
  return {
    kind: "tasks",
    tasks: tasks.map((fields, i) => toTask(fields, `${i + 1}`)),
    batch: true,
    mode: mode ?? null,
    policy: read,
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
    limits: present({
      maxIterations: limits.max_iterations,
      maxToolCalls: limits.max_tool_calls,
      maxDurationMs: limits.max_duration_ms,
      maxTokens: limits.max_tokens,
      maxCostUsd: limits.max_cost_usd,
      maxContextTokens: limits.max_context_tokens,
    }),
    retry: present({
      maxAttempts: retry.max_attempts,
      backoffMs: retry.backoff_ms,
      on: retry.on,
      alternative: retry.alternative,
    }),
  };
}

/** Without the keys that were not given. */
function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
