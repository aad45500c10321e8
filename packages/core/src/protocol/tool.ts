import { z } from "zod";
import { Risk } from "./agent.ts";
import { Json, JsonObject } from "./json.ts";
import { RunError } from "./run-error.ts";
import { Taint } from "./taint.ts";
import { TraceEvent } from "./trace-event.ts";

/**
 * Decides about a call that was started and has no outcome. `read` and `idempotent` calls run again. A `verifiable` call is
 * checked first. An `unsafe` call never runs again and is reported as in doubt.
 */
export const EffectClass = z.enum(["read", "idempotent", "verifiable", "unsafe"]);
export type EffectClass = z.infer<typeof EffectClass>;

/**
 * A tool's description for models and for the policy.
 *
 * @example
 * const fields = { name: "lookup", description: "Looks up a word", inputSchema: { type: "object" } };
 * ToolSpec.parse({ ...fields, risk: "low", effect: "read" }).groups; // []
 */
export const ToolSpec = z.object({
  name: z.string(),
  description: z.string(),
  risk: Risk,
  effect: EffectClass,
  groups: z.array(z.string()).default([]),
  inputSchema: JsonObject,
  /** Why calls fail on this host, such as a missing setting. Absent: the tool works. */
  unready: z.string().exactOptional(),
  /** Only agents whose `tools` name it, or one of its groups, get the tool. Absent: agents with all tools get it too. */
  namedOnly: z.literal(true).exactOptional(),
  /** Calls change no files of the workspace, whatever else they change. Absent: the host looks for changed files. */
  changesFiles: z.literal(false).exactOptional(),
});
export type ToolSpec = z.infer<typeof ToolSpec>;

/** A call as a model requested it. Its arguments are not validated yet: the tool's own schema does that. */
export const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  args: Json,
  /** Why the call is invalid: its arguments are not JSON, or too large. */
  problem: z.string().nullable().default(null),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** Hash of a file's content; null if the file does not exist. */
export const FileVersion = z.string().nullable();
export type FileVersion = z.infer<typeof FileVersion>;

/** The intended change of a file by a `verifiable` call, journaled before the call starts so that it can be checked. */
export const FilePlan = z.object({
  path: z.string(),
  before: FileVersion,
  after: FileVersion,
  /** Type of the entry before the change, if it was not a plain file without the executable bit. */
  typeBefore: z.enum(["executable", "link"]).exactOptional(),
  /** Permission bits of the file before the change, if they were not 644, or 755 for an executable file. */
  modeBefore: z.int().min(0).max(0o777).exactOptional(),
  /** How many of the folders above a created file, from the innermost, the change makes. Absent: none, or unknown. */
  foldersMade: z.int().positive().exactOptional(),
});
export type FilePlan = z.infer<typeof FilePlan>;

/** A call's change of a file of the workspace. */
export const FileChange = FilePlan.extend({
  kind: z.enum(["created", "modified", "deleted"]),
  /** Unified diff without a header; only the beginning of a long one; empty for binary files. */
  diff: z.string(),
  /** Hash of the whole diff in Blobs, if `diff` has only its beginning. */
  diffRef: z.string().nullable().default(null),
  linesAdded: z.int().nonnegative(),
  linesRemoved: z.int().nonnegative(),
  /** The use of the file by another program later, without a question, such as "runs at the user's next commit". */
  runsLater: z.string().exactOptional(),
  /**
   * Hash in Blobs of the whole content before the change, from which an undo restores the file. Absent: it was not kept, or
   * there was no file. For a symbolic link, the content is its target.
   */
  beforeRef: z.string().exactOptional(),
  /** Why the content before the change was not kept, such as its size. */
  unkept: z.string().exactOptional(),
});
export type FileChange = z.infer<typeof FileChange>;

/** Counts from a test runner's output. */
export const TestCounts = z.object({
  run: z.int().nonnegative(),
  passed: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  skipped: z.int().nonnegative(),
});
export type TestCounts = z.infer<typeof TestCounts>;

/** Result of a call. The model reads `output`. The rest is evidence from the runtime. */
export const ToolOutcome = z.object({
  output: z.string(),
  error: RunError.nullable().default(null),
  /** The call was started before a crash and has no outcome: it may or may not have happened. */
  inDoubt: z.boolean().default(false),
  filesCreated: z.array(z.string()).default([]),
  filesModified: z.array(z.string()).default([]),
  /** Changed files. */
  changes: z.array(FileChange).default([]),
  /** Versions of the files that the call read or wrote. A later write is checked against them. */
  seen: z.array(z.object({ path: z.string(), version: FileVersion })).default([]),
  tests: TestCounts.nullable().default(null),
  /** Files that it published for other runs. */
  artifacts: z.array(z.object({ name: z.string(), ref: z.string() })).default([]),
  /**
   * State of the run's own folder after a call that changed it, from which another host can rebuild it. For an isolated
   * run, the hash of its `FolderFiles` in Blobs; for a worktree, a commit.
   */
  folderRef: z.string().exactOptional(),
  /** Hash of the whole output in Blobs, if `output` has only its beginning and its end. */
  outputRef: z.string().nullable().default(null),
  durationMs: z.number().nonnegative().default(0),
  /** Untrusted and private sources of the output. Absent: none. */
  taint: Taint.exactOptional(),
  /** Events of the call for the trace. Absent: none. */
  events: z.array(TraceEvent).exactOptional(),
});
export type ToolOutcome = z.infer<typeof ToolOutcome>;

/** The changed files of a call, each in one list. `changes` wins over the other two lists. */
export function filesOf({ changes, filesCreated, filesModified }: ToolOutcome) {
  const kindOf = new Map(changes.map(({ path, kind }) => [path, kind]));
  const named = (paths: readonly string[]) => paths.filter((path) => !kindOf.has(path));
  const changed = (kind: FileChange["kind"]) => [...kindOf.keys()].filter((path) => kindOf.get(path) === kind);
  return {
    filesCreated: [...new Set([...named(filesCreated), ...changed("created")])],
    filesModified: [...new Set([...named(filesModified), ...changed("modified")])],
    filesDeleted: changed("deleted"),
  };
}
