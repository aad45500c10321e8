import { z } from "zod";
import { ContextMode, WorkspaceMode, WriteScope } from "./agent.ts";
import { Budget } from "./budget.ts";
import { Version } from "./codec.ts";
import { Id, Token } from "./ids.ts";
import { JsonObject } from "./json.ts";
import { PartialLimits } from "./limits.ts";
import { PlanAgents, PlanExecution } from "./plan.ts";
import { Taint } from "./taint.ts";

/**
 * One restriction of a run's grant. A tool or an agent is granted if every layer allows it. Layers are only ever added, so
 * a grant only narrows from parent to child, and every removal names the layer that caused it.
 */
export const GrantLayer = z.object({
  /**
   * Source of the layer: `policy` for the machine that accepted the session, a host's name for the policy of the machine
   * that runs it, `session`, or an agent's id.
   */
  from: z.string(),
  kind: z.enum(["policy", "session", "agent"]),
  /** Tools, groups, prefixes of names (`mcp__server__*`), or patterns of commands (`shell(git status:*)`). Null: no restriction. Empty: none. */
  tools: z.array(z.string()).nullable().default(null),
  denyTools: z.array(z.string()).default([]),
  /** Agents to delegate to, or `*`. Null: no restriction. Empty: none. */
  agents: z.array(z.string()).nullable().default(null),
  denyAgents: z.array(z.string()).default([]),
  /** Folders where files may be written. Null: no restriction. Empty: none. */
  writes: WriteScope.nullable().default(null),
  /** Only tools whose effect is `read`, whatever their names and groups. Absent: no restriction. */
  readOnly: z.literal(true).exactOptional(),
});
export type GrantLayer = z.infer<typeof GrantLayer>;

/** Restriction of a tool to some commands, by the patterns of a layer: `shell(git status:*)`. */
export const CommandLimit = z.object({
  /** Source of the layer. */
  from: z.string(),
  /** Names, groups and patterns of the layer. Null: it has no pattern. */
  allow: z.array(z.string()).nullable(),
  deny: z.array(z.string()),
});
export type CommandLimit = z.infer<typeof CommandLimit>;

/** The result of all layers. It is fixed when the run opens and checked again at every call. */
export const Grant = z.object({
  tools: z.array(z.string()),
  /** Agents that this run may delegate to. */
  agents: z.array(Token),
  /** Write scopes of the layers. A file may be written if every scope allows it. */
  writes: z.array(WriteScope).default([]),
  /** A layer is read-only. The tool host checks it against its own tools: a name can mean another tool there. */
  readOnly: z.literal(true).exactOptional(),
  /** Restrictions of granted tools to some commands. Absent: none. */
  commands: z.array(CommandLimit).exactOptional(),
});
export type Grant = z.infer<typeof Grant>;

/** The position of a delegation in its parent run. */
export const ParentRef = z.object({
  run: Id,
  agent: Token,
  step: z.int().positive(),
  call: z.int().nonnegative(),
  /** Index within a batch. */
  item: z.int().nonnegative().default(0),
});
export type ParentRef = z.infer<typeof ParentRef>;

/** A request's grant before layers existed. */
const FlatGrant = z.object({ grant: z.object({ tools: z.array(z.string()), agents: z.array(z.string()) }) });

/** Converts the old grant to one layer that grants exactly the same. */
function withLayers(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Object.hasOwn(value, "layers")) return value;
  const flat = FlatGrant.safeParse(value);
  return flat.success ? { ...value, layers: [{ from: "session", kind: "session", ...flat.data.grant }] } : value;
}

/** The workspace of a run, chosen by its parent or caller. */
export const RequestWorkspace = z.object({
  id: Token,
  /** The working folder; for an isolated run or a worktree, the folder of its parent or caller. */
  path: z.string(),
  /** Locality of the folder: only hosts with this locality can run the run. Absent: any host can. */
  place: Token.exactOptional(),
  /** Workspace mode of the run, by its definition. Absent: shared. */
  mode: WorkspaceMode.exactOptional(),
  /** The session's folder, if `path` is another one. Agents and tools are loaded from it. */
  project: z.string().exactOptional(),
  /** For an isolated run: hash of its initial files (`FolderFiles` in Blobs). Absent: none. */
  files: z.string().exactOptional(),
});
export type RequestWorkspace = z.infer<typeof RequestWorkspace>;

/** The session's folder, from which agents and tools are loaded. */
export function projectOf({ workspace }: { workspace: RequestWorkspace }): string {
  return workspace.project ?? workspace.path;
}

/** The sub-agent that a task beginning with `/spawn` starts before a model is called. */
export const SpawnCommand = z.object({
  agent: Token,
  task: z.string().min(1),
  /** The part of the conversation that the agent gets. Absent: its own default. */
  context: ContextMode.exactOptional(),
});
export type SpawnCommand = z.infer<typeof SpawnCommand>;

const RequestFields = z.object({
  v: Version,
  session: Id,
  run: Id,
  parent: ParentRef.nullable(),
  agent: Token,
  depth: z.int().nonnegative(),
  attempt: z.int().positive(),
  task: z.string().min(1),
  /** Text from the parent's conversation, files or piped input. */
  context: z.string().nullable().default(null),
  contextMode: ContextMode.default("task_only"),
  /** Workspace files whose content is sent along. The parent's host reads them under the parent's grant. */
  contextFiles: z.array(z.string()).default([]),
  successCriteria: z.string().nullable().default(null),
  userId: z.string().nullable().default(null),
  /** JSON Schema of the answer. */
  outputSchema: JsonObject.nullable().default(null),
  /** Agents from the root to the parent. A cycle is refused. */
  chain: z.array(Token),
  /** The first run of the session's previous turn, whose conversation this run continues. */
  continues: Id.nullable().default(null),
  /** Runs of `chain`, in the same order. A command for one of them applies to this run as well. */
  ancestors: z.array(Id).default([]),
  /** Grant layers so far. The run's own definition adds the last one. */
  layers: z.array(GrantLayer),
  /** Budget of this run and all runs below it, reserved from the parent's remainder. */
  budget: Budget.prefault({}),
  /** Limits that tighten those of the definition. */
  limits: PartialLimits.default({}),
  /** The model that `inherit` means. */
  model: z.string(),
  temperature: z.number().min(0).max(2).nullable().default(null),
  /** The parent's prompt, for agents with `promptFrom: parent`. */
  parentPrompt: z.string().nullable().default(null),
  workspace: RequestWorkspace,
  /** Remaining time, not a timestamp, because clocks of hosts differ. */
  remainingMs: z.int().positive().nullable().default(null),
  /** Untrusted and private sources that the parent had read when it started this run. Absent: none. */
  taint: Taint.exactOptional(),
  /** The plan that the run executes. No model is called for it. Absent: none. */
  plan: PlanExecution.exactOptional(),
  /** The answer has to be a plan of these agents. Absent: it does not. */
  planOf: PlanAgents.exactOptional(),
  /** The run delegates this before it calls its model. Absent: nothing. */
  spawn: SpawnCommand.exactOptional(),
});

/** The message that starts a run, from a user or a parent run. */
export const RunRequest = z.preprocess(withLayers, RequestFields);
export type RunRequest = z.infer<typeof RunRequest>;

/** The front end that started a session. */
export const SessionOrigin = z.enum(["cli", "page", "api"]);
export type SessionOrigin = z.infer<typeof SessionOrigin>;
