import type { ShellField, ShellFields } from "./shell-fields.ts";

/** Files that git lists in one of these states. `changed` also means staged. */
export type FileClass = "untracked" | "ignored" | "changed";

/** Files that a command deletes or overwrites. */
export interface EffectTarget {
  /** The folders that a relative path can start from; null: any. */
  folders: readonly string[] | null;
  /** Null: any file below the workspace. */
  field: ShellField | null;
  /** `tree`: everything below a folder, if it is one. `file`: a file that gets new content. */
  reach: "tree" | "file";
  /** Only files with a name that one of these patterns matches. @default all */
  names?: readonly string[];
  /** Only files in these states. @default all */
  classes?: readonly FileClass[];
  /** A moved file is lost only if the place that it moves to is outside of the workspace. */
  movesTo?: ShellField | null;
  /** The command gives the file a content of its own, which no other file has. */
  isWritten?: true;
  /** The file keeps its old content, and gets more. */
  isAppended?: true;
  /** The file gets the only copy of another file. */
  isMoved?: true;
}

/** The effects of a command line on existing files. */
export interface LineEffects {
  targets: EffectTarget[];
  /** Commands of git that delete something of the repository: a branch, or the stash. */
  gitObjects: GitObject[];
  /** The programs that it starts, also those behind other programs (`env`, `sh -c`). */
  programs: StartedProgram[];
  /** Whether a part of the line can start any program. */
  isUnclear: boolean;
}

/** A program with its arguments. */
export interface StartedProgram {
  /** As the line names it: with or without a folder. */
  program: string;
  args: readonly ShellFields[];
  folders: readonly string[] | null;
}

export type GitObject = { kind: "branch"; name: string } | { kind: "stash" };

/** A command while its effects are collected. */
export interface EffectScope {
  args: readonly ShellFields[];
  folders: readonly string[] | null;
  add(target: Omit<EffectTarget, "folders"> & { folders?: readonly string[] | null }): void;
  addGit(object: GitObject): void;
  isFolder(path: string): boolean;
}
