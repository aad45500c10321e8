import { z } from "zod";
import { ContextMode, WorkspaceMode, WriteScope } from "./agent.ts";
import { Budget } from "./budget.ts";
import { Id, Token } from "./ids.ts";
import { JsonObject } from "./json.ts";
import { PartialLimits } from "./limits.ts";
import { Version } from "./version.ts";

/**
 * One say in what a run may use. A tool or an agent is granted when every layer lets it through: layers are only ever
 * added, so a grant can only narrow on its way down, and each removal can be explained by the layer that did it.
 */
export const GrantLayer = z.object({
  /**
   * Who says it: `policy` of the machine that took the session in, the name of a host for the policy of the machine that
   * it runs on, `session`, or an agent's id.
   */
  from: z.string(),
  kind: z.enum(["policy", "session", "agent"]),
  /** Tools, groups, or how names begin (`mcp__server__*`). Null: no restriction. Empty: none. */
  tools: z.array(z.string()).nullable().default(null),
  denyTools: z.array(z.string()).default([]),
  /** Agents that may be delegated to, or `*`. Null: no restriction. Empty: none. */
  agents: z.array(z.string()).nullable().default(null),
  denyAgents: z.array(z.string()).default([]),
  /** Where files may be written. Null: no restriction. Empty: nowhere. */
  writes: WriteScope.nullable().default(null),
});
export type GrantLayer = z.infer<typeof GrantLayer>;

/** What a run may really use: what is left after all layers. Pinned when it opens, checked again at every call. */
export const Grant = z.object({
  tools: z.array(z.string()),
  /** Agents that this run may delegate to. */
  agents: z.array(Token),
  /** The layers' write scopes: a file may be written where every one of them allows it. */
  writes: z.array(WriteScope).default([]),
});
export type Grant = z.infer<typeof Grant>;

/** Who asked, from inside the tree. */
export const ParentRef = z.object({
  run: Id,
  agent: Token,
  step: z.int().positive(),
  call: z.int().nonnegative(),
  /** Place within a batch. */
  item: z.int().nonnegative().default(0),
});
export type ParentRef = z.infer<typeof ParentRef>;

/** What a request said before grants were layers: one list of each, from whoever asked. */
const FlatGrant = z.object({ grant: z.object({ tools: z.array(z.string()), agents: z.array(z.string()) }) });

/** A request from before layers is one with a single layer: what it was granted, and not a bit more. */
function withLayers(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Object.hasOwn(value, "layers")) return value;
  const flat = FlatGrant.safeParse(value);
  return flat.success ? { ...value, layers: [{ from: "session", kind: "session", ...flat.data.grant }] } : value;
}

/** Where a run works, decided by whoever asks for it. */
export const RequestWorkspace = z.object({
  id: Token,
  /** The folder that is worked in; of an isolated run, and of one in a worktree, that of whoever asked for it. */
  path: z.string(),
  /** The name of the disk that the folder is on: only hosts with that disk run what works there. Absent: all have it. */
  place: Token.exactOptional(),
  /** How this run works there, by its definition. Absent: shared. */
  mode: WorkspaceMode.exactOptional(),
  /** The session's folder, where `path` is another: agents and tools that it brings count. */
  project: z.string().exactOptional(),
  /** Of an isolated run: hash of the list of the files that it begins with (`FolderFiles` in Blobs). Absent: none. */
  files: z.string().exactOptional(),
});
export type RequestWorkspace = z.infer<typeof RequestWorkspace>;

/** The session's folder: its agents and tools count, wherever a run of it works. */
export function projectOf({ workspace }: { workspace: RequestWorkspace }): string {
  return workspace.project ?? workspace.path;
}

const RequestFields = z.object({
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
  /** Files of the workspace whose content comes along, read by the parent's host under the parent's grant. */
  contextFiles: z.array(z.string()).default([]),
  successCriteria: z.string().nullable().default(null),
  userId: z.string().nullable().default(null),
  /** JSON Schema that the answer has to fit, where the parent or the definition asks for one. */
  outputSchema: JsonObject.nullable().default(null),
  /** The agents from the root to the parent, for the refusal of cycles. */
  chain: z.array(Token),
  /** The first run of the session's turn before, where this is another turn of it: what was said there is known here. */
  continues: Id.nullable().default(null),
  /** Their runs, in the same order: a wish about any of them is one about this run. */
  ancestors: z.array(Id).default([]),
  /** All that was said so far about what this run may use. Its own definition adds the last layer. */
  layers: z.array(GrantLayer),
  /** What this run and all below it may use: reserved from the parent's remainder. */
  budget: Budget.prefault({}),
  /** Caps from above: they can only tighten those of the definition. */
  limits: PartialLimits.default({}),
  /** Model that `inherit` stands for. */
  model: z.string(),
  temperature: z.number().min(0).max(2).nullable().default(null),
  /** The parent's own prompt, for an agent that works with it. */
  parentPrompt: z.string().nullable().default(null),
  workspace: RequestWorkspace,
  /** Remaining time, not a timestamp: clocks of hosts differ. */
  remainingMs: z.int().positive().nullable().default(null),
});

/** The one message that starts a run: of a user, or of a parent delegating. */
export const RunRequest = z.preprocess(withLayers, RequestFields);
export type RunRequest = z.infer<typeof RunRequest>;

/** Where a session came from; a demo is labelled as such everywhere. */
export const SessionOrigin = z.enum(["cli", "page", "api"]);
export type SessionOrigin = z.infer<typeof SessionOrigin>;
