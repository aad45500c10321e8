import type { FileChange, FilePlan } from "../protocol/tool.ts";

/** The current state of a path of a workspace. */
export interface PathState {
  path: string;
  /** The hash of its content, or of a link's target; null if nothing is there. */
  version: string | null;
  /** Null if nothing is there. */
  type: "file" | "executable" | "link" | null;
  /** Permission bits, if they are not 644, or 755 for an executable file. */
  mode: number | null;
  /** The number of missing folders above it. */
  missingFolders: number;
  /** The path, or the file above it, that keeps a file from being there, such as a folder with its name; null for none. */
  blockedBy: string | null;
  /** Why no undo may touch the path; null if one may. */
  refusal: string | null;
}

/** The state that a file gets. */
export interface FileRestoration extends Pick<FilePlan, "path"> {
  /** The version that the file must still have; null if it must not exist. */
  expected: string | null;
  /** The version to restore; null deletes the file. */
  version: string | null;
  /** Hash in Blobs of the content to restore, or of a link's target. Absent: only the permission bits change. */
  ref?: string;
  type: "file" | "executable" | "link";
  /** Exact permission bits; null for the usual ones. */
  mode: number | null;
}

/** Thrown if a file no longer has the expected version, or cannot be restored. The file was not changed. */
export class NotRestoredError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "NotRestored";
  }
}

/** Restores files of workspaces on this machine. It never follows a link and never leaves the workspace. */
export interface FileRestorer {
  /** Throws `NotRestoredError` if the workspace does not exist. */
  inspect(workspace: string, paths: readonly string[]): Promise<PathState[]>;
  /** Stores the current content of a file, if it has this version. */
  keep(workspace: string, path: string, version: string): Promise<Pick<FileChange, "beforeRef" | "unkept">>;
  /** Restores one file under its lock. Throws `NotRestoredError`. A restored file counts as done if it is called again. */
  restore(workspace: string, file: FileRestoration): Promise<void>;
  /** Removes those of the folders that are empty, the innermost first. */
  removeEmptyFolders(workspace: string, folders: readonly string[]): Promise<void>;
}
