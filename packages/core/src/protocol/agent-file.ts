import { z } from "zod";
import { Subagents } from "./agent.ts";
import { AgentProblem, AgentSummary, GrantDecision } from "./api.ts";
import { Token } from "./ids.ts";
import { Limits } from "./limits.ts";

/** The largest agent file that is read. */
export const agentFileBytesMax = 256 * 1024;

/**
 * An ability of an agent beyond reading. `acts_otherwise`: a tool that changes something else, such as notes or a tool of the
 * user.
 */
export const AgentAbility = z.enum(["changes_files", "runs_commands", "talks_outward", "delegates", "acts_otherwise"]);
export type AgentAbility = z.infer<typeof AgentAbility>;

/** The page's way to change an agent: its own file, a copy that replaces it, or none. */
export const AgentEditing = z.enum(["file", "copy", "none"]);
export type AgentEditing = z.infer<typeof AgentEditing>;

/** A definition in the list of the editor. */
export const AgentFileRow = AgentSummary.omit({ permissionMode: true, workspace: true }).extend({
  /** Its file has an error, so no run can use it. */
  broken: z.boolean(),
  abilities: z.array(AgentAbility),
  editing: AgentEditing,
  /** Why its own file cannot be changed here. Null if it can. */
  reason: z.string().nullable(),
  /** The origin of the agent that this file replaces. Null: none. */
  replaces: z.string().nullable(),
});
export type AgentFileRow = z.infer<typeof AgentFileRow>;

/** A tool that an agent file can name. */
export const ToolChoice = z.object({
  name: z.string(),
  description: z.string(),
  groups: z.array(z.string()),
  /** Null: it only reads. */
  ability: AgentAbility.nullable(),
});
export type ToolChoice = z.infer<typeof ToolChoice>;

/** All definitions of a folder, and the names that their files can use. */
export const AgentFileList = z.object({
  agents: z.array(AgentFileRow),
  problems: z.array(AgentProblem),
  tools: z.array(ToolChoice),
  models: z.array(z.string()),
  /** Whether new files can be written into the project. Null without a project. */
  project: z.object({ path: z.string(), reason: z.string().nullable() }).nullable(),
});
export type AgentFileList = z.infer<typeof AgentFileList>;

const Names = z.array(z.string().trim().min(1).max(200)).max(500);
const Limit = z.enum(Object.keys(Limits.shape) as [keyof Limits, ...(keyof Limits)[]]);

/** The keys of an agent file that the editor has fields for, as the file writes them. Empty text: the file lacks the key. */
export const AgentForm = z.strictObject({
  description: z.string().max(20_000),
  model: z.string().max(300),
  /** Null: all tools that its parent grants. */
  tools: Names.nullable(),
  disallowedTools: Names,
  allow: Names,
  deny: Names,
  execution: z.union([z.literal(""), Subagents.shape.execution.unwrap()]),
  maxConcurrent: z.string().trim().max(40),
  /** Numbers and durations as text: `20`, `10m`. */
  limits: z.partialRecord(Limit, z.string().trim().max(40)),
  /** Null: the folders of its parent. */
  writes: Names.nullable(),
  disabled: z.boolean(),
  prompt: z.string().max(agentFileBytesMax),
});
export type AgentForm = z.infer<typeof AgentForm>;

/** The version of a file: the hash of its bytes. */
const Version = z.string().regex(/^[0-9a-f]{64}$/, "the version of an agent file");
const Workspace = z.string().min(1).max(4_096).nullable().default(null);

/** A change of an agent file that is not saved yet. */
export const AgentDraft = z
  .strictObject({
    id: Token,
    /** The project whose agents count too. Null: only the shipped agents and the user's own. */
    workspace: Workspace,
    /** The version that the change starts from. Null: the file is new. */
    version: Version.nullable(),
    /** The folder of a new file. */
    folder: z.enum(["user", "project"]).default("user"),
    /** The agent that a new file is a copy of. */
    from: Token.exactOptional(),
    /** New values of the fields. Everything else in the file stays as it is. */
    form: AgentForm.exactOptional(),
    /** The whole new text of the file. */
    text: z.string().max(agentFileBytesMax).exactOptional(),
  })
  .refine(({ form, text }) => form === undefined || text === undefined, {
    path: ["text"],
    message: "send form or text, not both",
  });
export type AgentDraft = z.infer<typeof AgentDraft>;

/** Tools and agents that an agent gets as the first agent of a session here. Its parents can only take away. */
export const AgentReach = z.object({ abilities: z.array(AgentAbility), decisions: z.array(GrantDecision) });
export type AgentReach = z.infer<typeof AgentReach>;

/** Effects of a draft: the text, its problems and the reach of the agent. */
export const AgentCheck = z.object({
  id: Token,
  path: z.string(),
  /** The version on the disk. Null: no file. */
  version: Version.nullable(),
  text: z.string(),
  /** Null if the front matter cannot be changed by fields; `formProblem` says why. */
  form: AgentForm.nullable(),
  formProblem: z.string().nullable(),
  /** Unified diff from the file on the disk, without a header. Empty: no change. */
  diff: z.string(),
  linesAdded: z.int(),
  linesRemoved: z.int(),
  /** Problems of the file, as `troupe agents validate` reports them. */
  problems: z.array(AgentProblem),
  /** Problems that the change would cause in other files. */
  otherProblems: z.array(AgentProblem),
  /** Null if the file has an error. */
  reach: AgentReach.nullable(),
});
export type AgentCheck = z.infer<typeof AgentCheck>;

/** A definition with its file. */
export const AgentFileView = z.object({ row: AgentFileRow, check: AgentCheck });
export type AgentFileView = z.infer<typeof AgentFileView>;

/** The file to delete, in the version that the user saw. */
export const AgentRemoval = z.strictObject({ workspace: Workspace, version: Version });
export type AgentRemoval = z.infer<typeof AgentRemoval>;

export const AgentRemoved = z.object({ id: Token, path: z.string() });
export type AgentRemoved = z.infer<typeof AgentRemoved>;
