import { z } from "zod";
import { ContextMode } from "./agent.ts";
import { Id, Token } from "./ids.ts";
import { PartialLimits } from "./limits.ts";
import { Version } from "./version.ts";

/** What a run may use: sealed into its request, checked again at every call. */
export const Grant = z.object({
  tools: z.array(z.string()),
  /** Agents that this run may delegate to. */
  agents: z.array(Token),
});
export type Grant = z.infer<typeof Grant>;

/** Who asked, from inside the tree. */
export const ParentRef = z.object({
  run: Id,
  agent: Token,
  step: z.int().positive(),
  call: z.int().nonnegative(),
});
export type ParentRef = z.infer<typeof ParentRef>;

/** The one message that starts a run: of a user, or of a parent delegating. */
export const RunRequest = z.object({
  v: Version,
  session: Id,
  run: Id,
  parent: ParentRef.nullable(),
  agent: Token,
  depth: z.int().nonnegative(),
  attempt: z.int().positive(),
  task: z.string().min(1),
  /** Whatever of the parent's conversation, files or piped input comes along. */
  context: z.string().nullable().default(null),
  contextMode: ContextMode.default("task_only"),
  successCriteria: z.string().nullable().default(null),
  userId: z.string().nullable().default(null),
  /** The agents from the root to the parent, for the refusal of cycles. */
  chain: z.array(Token),
  /** The most that this run may be granted: its own definition can only take away from it. */
  grant: Grant,
  /** Caps from above: they can only tighten those of the definition. */
  limits: PartialLimits.default({}),
  /** Model that `inherit` stands for. */
  model: z.string(),
  workspace: z.object({ id: Token, path: z.string() }),
  /** Remaining time, not a timestamp: clocks of hosts differ. */
  remainingMs: z.int().positive().nullable().default(null),
});
export type RunRequest = z.infer<typeof RunRequest>;

/** Where a session came from; a demo is labelled as such everywhere. */
export const SessionOrigin = z.enum(["cli", "page", "api"]);
export type SessionOrigin = z.infer<typeof SessionOrigin>;
