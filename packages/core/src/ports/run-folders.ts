import type { RunRequest } from "../protocol/request.ts";
import type { RunResponse } from "../protocol/response.ts";
import type { FileChange, ToolOutcome } from "../protocol/tool.ts";

type Run = Pick<RunRequest, "session" | "run" | "workspace">;

/** State of a run's folder by its journal. */
export interface FolderState {
  /** The newest `folderRef` of its calls; null if no call changed the folder. */
  journaled: string | null;
  /** Whether a host had opened it before. */
  isResumed: boolean;
}

/** Manages the folders of this host's runs. */
export interface RunFolders {
  /**
   * Opens the folder of a run in the state of its journal, and creates or rebuilds it if necessary. Throws a `RunFailure`
   * if that fails, of type `workspace_lost` if the folder existed before.
   */
  open(request: Run, facts: FolderState): Promise<RunFolder>;
  /** Collects the files of an ending run and removes a worktree. Calling it again returns the same. */
  finish(request: Run, facts: Pick<FolderState, "journaled">): Promise<CollectedFiles>;
  /** Removes a settled run's own folder. */
  remove(request: Run): Promise<void>;
  /** Stores all files of a folder, for a child that starts with the same files. */
  snapshot(folder: string): Promise<string>;
  /** Stores some files of a folder, for a child that starts with them. Throws a `RunFailure` if a file cannot be stored. */
  snapshotFiles(folder: string, paths: readonly string[]): Promise<string>;
  /** Removes folders of settled and unknown runs. */
  removeLeftovers(isSettled: (run: Pick<RunRequest, "session" | "run">) => Promise<boolean>): Promise<void>;
}

/** One call's changes of a run's own folder. */
export type FolderChanges = Pick<ToolOutcome, "folderRef"> & {
  /** Changes that the tool itself did not report. */
  changes: FileChange[];
  /** A note for the model; empty if there is none. */
  note: string;
};

/** A call that may change files of a folder. */
export interface FolderCall {
  key: string;
  /** Files that the call announced to change. */
  planned: readonly string[];
}

/** The working folder of a run on this host. */
export interface RunFolder {
  readonly path: string;
  /** Call this when a call starts. Its announced files are then not attributed to calls that end meanwhile. */
  callStarted(call: FolderCall): void;
  /**
   * Call this when a call has ended. Stores the folder's state if another host may have to rebuild it. Null if the folder
   * is shared or unchanged.
   */
  callEnded(call: Pick<FolderCall, "key">): Promise<FolderChanges | null>;
}

/** Artifacts and warnings from a run's folder for its response. */
export type CollectedFiles = Pick<RunResponse, "artifacts" | "warnings">;

/** A folder shared with other runs: its state is not stored. */
export function sharedFolder(path: string): RunFolder {
  return { path, callStarted() {}, callEnded: async () => null };
}
