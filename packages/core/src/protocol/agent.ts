import { z } from "zod";
import { backoffMsDefault, maxAttemptsDefault, maxConcurrentChildrenDefault } from "../defaults.ts";
import { durationSchema } from "../text/duration.ts";
import { PartialBudget } from "./budget.ts";
import { Token } from "./ids.ts";
import { PartialLimits } from "./limits.ts";
import { RunErrorType } from "./run-error.ts";

/** The part of the parent's conversation that a child gets. */
export const ContextMode = z.enum(["task_only", "summary", "full", "selective"]);
export type ContextMode = z.infer<typeof ContextMode>;

/** Risk of a tool call or of a whole run. The policy decides by it. */
export const Risk = z.enum(["low", "medium", "high"]);
export type Risk = z.infer<typeof Risk>;

/** Reasoning effort of a model. The provider's adapter translates it. */
export const Effort = z.enum(["none", "low", "medium", "high", "max"]);
export type Effort = z.infer<typeof Effort>;

/** Retries of a child of this agent by its parent. */
export const RetryPolicy = z.object({
  maxAttempts: z.int().min(1).max(10).default(maxAttemptsDefault),
  backoffMs: durationSchema(z.int().nonnegative()).default(backoffMsDefault),
  on: z.array(RunErrorType).default(["network", "rate_limit", "crashed", "model"]),
  /** The agent for one more attempt after all others have failed. */
  alternative: Token.nullable().default(null),
});
export type RetryPolicy = z.infer<typeof RetryPolicy>;

/** All agents, on any host. */
const allAgents = z.literal("*");

/** The agents that an agent may delegate to, or `*` for all. An empty `allow` means none. `deny` wins. */
export const Subagents = z.strictObject({
  allow: z.array(z.union([allAgents, Token])).default([]),
  deny: z.array(Token).default([]),
  execution: z.enum(["parallel", "parallel_streaming", "sequential"]).default("parallel"),
  max_concurrent: z.int().positive().default(maxConcurrentChildrenDefault),
});
export type Subagents = z.infer<typeof Subagents>;

/** A deterministic check of a run's result, before it settles. */
export const VerifierSpec = z.object({ name: z.string(), params: z.record(z.string(), z.json()).default({}) });
export type VerifierSpec = z.infer<typeof VerifierSpec>;

/** A check of a child's result in its parent, before the parent's model relies on it. */
export const ChildVerifier = VerifierSpec.extend({
  /** The child's agent. Null: every child. */
  agent: Token.nullable().default(null),
  /** The check runs only if the task or the answer contains one of these words. Empty: always. */
  words: z.array(z.string().min(1)).default([]),
});
export type ChildVerifier = z.infer<typeof ChildVerifier>;

/** A program that sees the results of a run's calls and works beside the run. It never delays or fails the run. */
export const ObserverSpec = z.object({ name: z.string(), params: z.record(z.string(), z.json()).default({}) });
export type ObserverSpec = z.infer<typeof ObserverSpec>;

/** A kind of request that an agent has to delegate. It is recognised by its words, before the model is called. */
export const Trigger = z.object({
  /** Words or phrases of the request. Case does not matter, and each must stand alone. */
  words: z.array(z.string().min(1)).min(1),
  /** The agent that the work must go to. */
  agent: Token,
  /** Tools of which one must have returned a result before the delegation. Empty: none. */
  after: z.array(z.string()).default([]),
});
export type Trigger = z.infer<typeof Trigger>;

/** A kind of request, the tools for it in their order, and its risk. */
export const IntentPattern = z.object({
  /** A regular expression. It ignores case, and `.` matches line breaks too. */
  pattern: z.string().min(1).max(500).refine(isRegularExpression, "is not a regular expression"),
  tools: z.array(z.string()).default([]),
  risk: Risk,
});
export type IntentPattern = z.infer<typeof IntentPattern>;

function isRegularExpression(source: string): boolean {
  try {
    new RegExp(source, "is");
    return true;
  } catch {
    return false;
  }
}

/** Folders relative to the workspace (`packages/a/test`), or with this name at any depth (`**\/test`). */
export const WriteScope = z.array(
  z
    .string()
    .regex(/^(\*\*\/)?(?!\.{1,2}(\/|$))[^\0*/]+(\/(?!\.{1,2}(\/|$))[^\0*/]+)*$/, "a folder such as test, or **/test"),
);
export type WriteScope = z.infer<typeof WriteScope>;

/**
 * The folder of a run: its parent's (`shared`), an empty one of its own that moves between hosts (`isolated`), or a Git
 * worktree of the session's repository with its own branch (`worktree`).
 */
export const WorkspaceMode = z.enum(["shared", "isolated", "worktree"]);
export type WorkspaceMode = z.infer<typeof WorkspaceMode>;

/**
 * An agent as its Markdown file defines it.
 *
 * @example
 * AgentDefinition.parse({
 *   id: "reviewer",
 *   name: "Reviewer",
 *   description: "Reviews code",
 *   prompt: "You review code.",
 *   source: { origin: "user", path: "reviewer.md" },
 * }).subagents.allow; // []
 */
export const AgentDefinition = z.object({
  id: Token,
  name: z.string().min(1),
  /** When to delegate to it. The parent's model reads this. */
  description: z.string().min(1),
  /** The system prompt. */
  prompt: z.string().min(1),
  /** Tools, groups, or prefixes of names (`mcp__server__*`). `null`: all that the parent grants. Empty: none. */
  tools: z.array(z.string()).nullable().default(null),
  disallowedTools: z.array(z.string()).default([]),
  /** `plan`: it and all runs below it get only tools that read. Absent: no such limit. No mode ever grants anything. */
  permissionMode: z.literal("plan").exactOptional(),
  /** Folders that its file tools and commands may write to. `null`: the same as its parent. Empty: none. */
  writes: WriteScope.nullable().default(null),
  /** An alias, `provider/model`, or `inherit`. */
  model: z.string().default("inherit"),
  subagents: Subagents.prefault({}),
  intent: z.enum(["direct", "patterns", "model"]).default("direct"),
  /** For `intent: patterns`, which needs at least one, or a handler. Absent otherwise. */
  patterns: z.array(IntentPattern).max(100).exactOptional(),
  /** For `intent: patterns`: a handler of the machine, which has the patterns and decides the calls without a model. */
  handler: Token.exactOptional(),
  limits: PartialLimits.default({}),
  /** The most that it and all runs below it may use. */
  budget: PartialBudget.default({}),
  /** `parent`: works with its parent's prompt, but a new conversation. */
  promptFrom: z.enum(["own", "parent"]).default("own"),
  /** Null means the parent's temperature. */
  temperature: z.number().min(0).max(2).nullable().default(null),
  /** Reasoning effort. Null means the model's default. */
  effort: Effort.nullable().default(null),
  /** JSON Schema of its answer. */
  outputSchema: z.record(z.string(), z.json()).nullable().default(null),
  /** Set for an expert of one domain. It gets only its task, never the parent's conversation, and never delegates. */
  domain: Token.nullable().default(null),
  /** Switched off: no agent can delegate to it. */
  disabled: z.boolean().default(false),
  retry: RetryPolicy.prefault({}),
  contextMode: ContextMode.default("task_only"),
  /** Null means `shared`, or `isolated` for an agent that only other hosts serve. */
  workspace: WorkspaceMode.nullable().default(null),
  verifiers: z.array(VerifierSpec).default([]),
  /** The team that it belongs to; its id then begins with the team's name and `_`. Absent: none. */
  team: Token.exactOptional(),
  /** Requests that it must delegate. Absent: none. */
  triggers: z.array(Trigger).exactOptional(),
  /** Checks of the results of its children. Absent: none. */
  childVerifiers: z.array(ChildVerifier).exactOptional(),
  /** Programs that see the results of its calls. Absent: none. */
  observers: z.array(ObserverSpec).exactOptional(),
  /** The file that defines it. `remote` means that another host serves it; `path` lists the names of such hosts. */
  source: z.object({ origin: z.enum(["builtin", "user", "project", "claude", "remote"]), path: z.string() }),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** A key of a definition that does not fit its `intent`. */
export interface PatternConflict {
  key: "intent" | "patterns" | "handler";
  message: string;
  fix: string;
}

/**
 * Why the patterns or the handler of a definition do not fit its `intent`, or null. The schema accepts such a definition,
 * because recorded journals contain one. Readers of new definitions refuse it.
 */
export function patternConflict({
  intent,
  patterns,
  handler,
}: Pick<AgentDefinition, "intent" | "patterns" | "handler">): PatternConflict | null {
  if (intent === "patterns" && (patterns ?? []).length === 0 && handler === undefined) {
    return {
      key: "intent",
      message: "intent is patterns, but the agent has no patterns and no handler, so no request would be assessed",
      fix: 'add patterns: [{pattern: "send .*mail", tools: [], risk: high}] or a handler, or write intent: model or intent: direct',
    };
  }
  if (intent === "patterns" || (patterns ?? handler) === undefined) return null;
  const unused = patterns === undefined ? "handler" : "patterns";
  return {
    key: unused,
    message: `${unused} has no effect, because intent is ${intent}`,
    fix: `write intent: patterns, or remove the ${unused}`,
  };
}

/**
 * The workspace mode of an agent's runs. Without a setting, an agent that only other hosts serve gets a folder of its own:
 * those hosts need not have the session's folder.
 */
export function workspaceModeOf({ workspace, source }: Pick<AgentDefinition, "workspace" | "source">): WorkspaceMode {
  return workspace ?? (source.origin === "remote" ? "isolated" : "shared");
}
