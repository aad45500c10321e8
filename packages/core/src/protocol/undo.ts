import { z } from "zod";
import { Id } from "./ids.ts";
import { FileChange, FilePlan } from "./tool.ts";

/**
 * One file that an undo changes: `before` is its version when the undo was planned, `after` the version that it restores.
 * Its content at that time is kept, so that the undo itself can be undone.
 */
export const UndoneFile = FilePlan.extend(FileChange.pick({ beforeRef: true, unkept: true }).shape);
export type UndoneFile = z.infer<typeof UndoneFile>;

/** The result of an undo for one file. */
export const UndoResult = z.object({
  path: z.string(),
  state: z.enum(["restored", "deleted", "left"]),
  /** Null unless the file was left. */
  reason: z.string().nullable().default(null),
});
export type UndoResult = z.infer<typeof UndoResult>;

/**
 * The request to undo the file changes of a run and of all runs below it.
 *
 * @example
 * UndoRequest.parse({ step: 3, dryRun: true }).by; // "a person"
 */
export const UndoRequest = z.strictObject({
  /** Undoes this step and everything after it. @default all steps */
  step: z.int().nonnegative().optional(),
  /** Undoes only these files, or files below these folders. @default all files */
  paths: z.array(z.string().min(1).max(4_096)).max(1_000).optional(),
  /** Only lists the files that the undo would change. @default false */
  dryRun: z.boolean().default(false),
  /** Restores the other files if some cannot be restored. @default false: then no file is changed */
  partial: z.boolean().default(false),
  /** Undoes the newest undo of the run instead. @default false */
  redo: z.boolean().default(false),
  by: z.string().trim().min(1).max(200).default("a person"),
});
export type UndoRequest = z.infer<typeof UndoRequest>;

/** The part of an undo that concerns one file. */
export const UndoFile = z.object({
  path: z.string(),
  /**
   * `restore`: gets its old content. `delete`: the run created it. `none`: it is as it was before the run. `conflict`: it
   * was changed since. `unkept`: its old content is not kept.
   */
  action: z.enum(["restore", "delete", "none", "conflict", "unkept"]),
  /** Absent while nothing was done. */
  state: UndoResult.shape.state.exactOptional(),
  /** Why the file cannot be restored, or was left. */
  reason: z.string().nullable().default(null),
});
export type UndoFile = z.infer<typeof UndoFile>;

/** The result of an undo, or of its plan. */
export const UndoOutcome = z.object({
  session: Id,
  run: Id,
  /** Null if nothing was done. */
  undo: Id.nullable(),
  /**
   * `planned`: a dry run. `refused`: some files cannot be restored, so none was changed. `nothing`: no file has to change.
   * `done`: all files are restored. `partial`: some were left.
   */
  outcome: z.enum(["planned", "refused", "nothing", "done", "partial"]),
  /** The folder of the files. */
  workspace: z.string(),
  files: z.array(UndoFile),
  /** Changes that the undo does not know or does not touch, such as those in the worktree of a child. */
  notes: z.array(z.string()).default([]),
});
export type UndoOutcome = z.infer<typeof UndoOutcome>;

/** An undo in the record of a session. */
export const UndoRow = z.object({
  undo: Id,
  session: Id,
  run: Id,
  by: z.string(),
  /** The first step that it undid; null for all. */
  step: z.int().nullable(),
  /** The undo that it undid; null for none. */
  redoes: Id.nullable(),
  at: z.iso.datetime(),
  /** Null while it runs, and if it was interrupted: undoing again finishes it. */
  finishedAt: z.iso.datetime().nullable(),
  files: z.array(
    FileChange.pick({ path: true, kind: true }).extend({
      state: UndoResult.shape.state.nullable(),
      reason: z.string().nullable(),
    }),
  ),
});
export type UndoRow = z.infer<typeof UndoRow>;
