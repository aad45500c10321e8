import { z } from "zod";
import { Risk } from "./agent.ts";
import { Json, JsonObject } from "./json.ts";
import { RunError } from "./run-error.ts";

/**
 * What may happen when a tool's call is found started without an outcome (DESIGN 7.6): `read` and `idempotent` are
 * run again, `verifiable` is checked first, `unsafe` never: it is reported as in doubt.
 */
export const EffectClass = z.enum(["read", "idempotent", "verifiable", "unsafe"]);
export type EffectClass = z.infer<typeof EffectClass>;

/** What a model is told of a tool, and what the policy decides by. */
export const ToolSpec = z.object({
  name: z.string(),
  description: z.string(),
  risk: Risk,
  effect: EffectClass,
  groups: z.array(z.string()).default([]),
  inputSchema: JsonObject,
});
export type ToolSpec = z.infer<typeof ToolSpec>;

/** One call as a model asked for it. Arguments stay as they came until the tool's own schema has parsed them. */
export const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  args: Json,
  /** Why the call cannot be made, found where it was received: arguments that are no JSON, or too large to keep. */
  problem: z.string().nullable().default(null),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** What a file's content is known by; null where there is none. */
export const FileVersion = z.string().nullable();
export type FileVersion = z.infer<typeof FileVersion>;

/** What a call of class `verifiable` is about to do to a file: journaled before it begins, so that it can be checked. */
export const FilePlan = z.object({ path: z.string(), before: FileVersion, after: FileVersion });
export type FilePlan = z.infer<typeof FilePlan>;

/** What a call has done to a file of the workspace. */
export const FileChange = FilePlan.extend({
  kind: z.enum(["created", "modified", "deleted"]),
  /** Unified, without a head; the beginning of a long one; empty for what is no text. */
  diff: z.string(),
  /** Hash of the whole difference in Blobs, where `diff` is only its beginning. */
  diffRef: z.string().nullable().default(null),
  linesAdded: z.int().nonnegative(),
  linesRemoved: z.int().nonnegative(),
});
export type FileChange = z.infer<typeof FileChange>;

/** What a test runner said, counted. */
export const TestCounts = z.object({
  run: z.int().nonnegative(),
  passed: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  skipped: z.int().nonnegative(),
});
export type TestCounts = z.infer<typeof TestCounts>;

/** What came of a call. `output` is what the model reads; the rest is evidence, filled in by the runtime. */
export const ToolOutcome = z.object({
  output: z.string(),
  error: RunError.nullable().default(null),
  /** Started before a crash and without an outcome: it may or may not have happened. */
  inDoubt: z.boolean().default(false),
  filesCreated: z.array(z.string()).default([]),
  filesModified: z.array(z.string()).default([]),
  /** Each file that it changed, and how. */
  changes: z.array(FileChange).default([]),
  /** The content of files as the call saw or left it: a later write of the run is about this version. */
  seen: z.array(z.object({ path: z.string(), version: FileVersion })).default([]),
  tests: TestCounts.nullable().default(null),
  /** What it put where others can fetch it. */
  artifacts: z.array(z.object({ name: z.string(), ref: z.string() })).default([]),
  /**
   * What is in the run's own folder after the call, where that has changed: of an isolated run, the hash of the list of its
   * files in Blobs; of one in a worktree, a commit. From this another host makes the folder anew.
   */
  folderRef: z.string().exactOptional(),
  /** Hash of the whole output in Blobs, where `output` is only its beginning and its end. */
  outputRef: z.string().nullable().default(null),
  durationMs: z.number().nonnegative().default(0),
});
export type ToolOutcome = z.infer<typeof ToolOutcome>;

/** The files that a call touched, each in one list: as `changes` says, or as they are named without a change. */
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
