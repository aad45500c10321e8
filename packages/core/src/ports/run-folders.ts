import type { RunRequest } from "../protocol/request.ts";
import type { RunResponse } from "../protocol/response.ts";
import type { FileChange, FilePlan, ToolOutcome } from "../protocol/tool.ts";

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

/** One call's changes of a run's folder. */
export type FolderChanges = Pick<ToolOutcome, "folderRef"> & {
  /** Changes that the tool itself did not report. */
  changes: FileChange[];
  /** A note for the model; empty if there is none. */
  note: string;
};

/** A call that may change files of a folder. */
export interface FolderCall {
  /** Step and number of the call, as `3/0`. */
  key: string;
  /** Changes that the call announced. */
  planned: readonly FilePlan[];
  /** Whether its own outcome lists all its changes, so that the folder need not be searched for them. */
  listsChanges: boolean;
}

/** The working folder of a run on this host. */
export interface RunFolder {
  readonly path: string;
  /**
   * Call this before a call starts, and wait for it. Its announced files are then not attributed to calls that end
   * meanwhile. Resolves to a note about files that could not be restored if the call changed them; empty if there are none.
   */
  callStarted(call: FolderCall): Promise<string>;
  /**
   * Call this when a call has ended. Stores the folder's state if another host may have to rebuild it. Null if the call
   * changed nothing that its own outcome does not list.
   */
  callEnded(call: Pick<FolderCall, "key">): Promise<FolderChanges | null>;
  /** Call this when a call will have no outcome, such as after a cancel. Has no effect on a call that has ended. */
  callDropped(call: Pick<FolderCall, "key">): void;
  /** The changes since the start of a call without an outcome, whose host was killed. Null if they are not known. */
  callInDoubt(call: Pick<FolderCall, "key">): Promise<FolderChanges | null>;
  /** A note about files that could not be restored if a command changed them now; empty if there are none. */
  describeUnkept(): Promise<string>;
}

/** Artifacts and warnings from a run's folder for its response. */
export type CollectedFiles = Pick<RunResponse, "artifacts" | "warnings">;

/** A folder whose changes by commands are not recorded. */
export function sharedFolder(path: string): RunFolder {
  return {
    path,
    callStarted: async () => "",
    callEnded: async () => null,
    callDropped() {},
    callInDoubt: async () => null,
    describeUnkept: async () => "",
  };
}
