import { z } from "zod";
import { PartialBudget } from "./budget.ts";
import { Effort } from "./effort.ts";
import { Token } from "./ids.ts";
import { PartialLimits } from "./limits.ts";
import { RunErrorType } from "./run-error.ts";

/** How much of the parent's conversation a child is given. */
export const ContextMode = z.enum(["task_only", "summary", "full", "selective"]);
export type ContextMode = z.infer<typeof ContextMode>;

export const Risk = z.enum(["low", "medium", "high"]);
export type Risk = z.infer<typeof Risk>;

/** How a parent retries a child of this agent. */
export const RetryPolicy = z.object({
  maxAttempts: z.int().min(1).max(10).default(2),
  backoffMs: z.int().nonnegative().default(1_000),
  on: z.array(RunErrorType).default(["network", "rate_limit", "crashed", "model"]),
  /** Who is asked once more, when every attempt has failed. */
  alternative: Token.nullable().default(null),
});
export type RetryPolicy = z.infer<typeof RetryPolicy>;

/** Everybody who can be asked, on whichever machine. */
const everybody = z.literal("*");

/** Whom an agent may delegate to, or `*` for everybody. An empty `allow` makes it a leaf; deny wins. */
export const Subagents = z.strictObject({
  allow: z.array(z.union([everybody, Token])).default([]),
  deny: z.array(Token).default([]),
  execution: z.enum(["parallel", "parallel_streaming", "sequential"]).default("parallel"),
  max_concurrent: z.int().positive().default(5),
});
export type Subagents = z.infer<typeof Subagents>;

/** A deterministic check of what a run claims, run before it settles. */
export const VerifierSpec = z.object({ name: z.string(), params: z.record(z.string(), z.json()).default({}) });
export type VerifierSpec = z.infer<typeof VerifierSpec>;

// Folders of the workspace, relative to it (packages/a/test), or of a name wherever it occurs (**/test).
export const WriteScope = z.array(
  z
    .string()
    .regex(/^(\*\*\/)?(?!\.{1,2}(\/|$))[^\0*/]+(\/(?!\.{1,2}(\/|$))[^\0*/]+)*$/, "a folder such as test, or **/test"),
);
export type WriteScope = z.infer<typeof WriteScope>;

/**
 * Where a run works: in its parent's folder (`shared`), in an empty folder of its own that moves with it (`isolated`), or
 * on a branch of its own of the session's repository (`worktree`).
 */
export const WorkspaceMode = z.enum(["shared", "isolated", "worktree"]);
export type WorkspaceMode = z.infer<typeof WorkspaceMode>;

/** An agent, as its Markdown file defines it once it is loaded. */
export const AgentDefinition = z.object({
  id: Token,
  name: z.string().min(1),
  /** When to delegate to it: what the parent's model reads. */
  description: z.string().min(1),
  /** Its system prompt. */
  prompt: z.string().min(1),
  /** Tools, groups, or how names begin (`mcp__server__*`). `null`: whatever the parent may grant. Empty: none. */
  tools: z.array(z.string()).nullable().default(null),
  disallowedTools: z.array(z.string()).default([]),
  /** Where it may write, by file tools and by commands. `null`: wherever its parent may. Empty: nowhere. */
  writes: WriteScope.nullable().default(null),
  /** An alias, `provider/model`, or `inherit`. */
  model: z.string().default("inherit"),
  subagents: Subagents.prefault({}),
  intent: z.enum(["direct", "patterns", "model"]).default("direct"),
  limits: PartialLimits.default({}),
  /** What it and all below it may use, whatever its parent has left. */
  budget: PartialBudget.default({}),
  /** `parent`: works with its parent's prompt, so that only the context is fresh. */
  promptFrom: z.enum(["own", "parent"]).default("own"),
  /** Null: the parent's. */
  temperature: z.number().min(0).max(2).nullable().default(null),
  /** How hard its model is to think. Null: as the model would by itself. */
  effort: Effort.nullable().default(null),
  /** JSON Schema that its answer has to fit. */
  outputSchema: z.record(z.string(), z.json()).nullable().default(null),
  /** Set for an expert of one domain: it gets one message, never the parent's conversation, and never delegates. */
  domain: Token.nullable().default(null),
  /** Switched off by its owner: nobody can delegate to it. */
  disabled: z.boolean().default(false),
  retry: RetryPolicy.prefault({}),
  contextMode: ContextMode.default("task_only"),
  /** Null: `shared`; of an agent that only other hosts serve, `isolated`. */
  workspace: WorkspaceMode.nullable().default(null),
  verifiers: z.array(VerifierSpec).default([]),
  /** Where it was read from; of a `remote` one, that another host serves: the names of the hosts. */
  source: z.object({ origin: z.enum(["builtin", "user", "project", "claude", "remote"]), path: z.string() }),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/**
 * Where the runs of an agent work. One that only other hosts serve, and that says nothing of it, works in a folder of its
 * own: those hosts need not have anybody else's.
 */
export function workspaceModeOf({ workspace, source }: Pick<AgentDefinition, "workspace" | "source">): WorkspaceMode {
  return workspace ?? (source.origin === "remote" ? "isolated" : "shared");
}
