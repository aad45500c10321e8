import type { RunRequest } from "../protocol/request.ts";
import type { RunResponse } from "../protocol/response.ts";
import type { FileChange, ToolOutcome } from "../protocol/tool.ts";

type Run = Pick<RunRequest, "session" | "run" | "workspace">;

/** The state of a run's folder according to its journal. */
export interface FolderState {
  /** The newest `folderRef` of its calls; null where none has changed anything. */
  journaled: string | null;
  /** Whether a host has had it before. */
  isResumed: boolean;
}

/** Manages the folders that runs of this host work in. */
export interface RunFolders {
  /**
   * The folder of a run as its journal says that it is, made where it is not. Throws a `RunFailure` where that cannot be
   * had: of type `workspace_lost`, where it was there once.
   */
  open(request: Run, facts: FolderState): Promise<RunFolder>;
  /** What comes back of a run that ends; called again, it says the same. A worktree is gone then. */
  finish(request: Run, facts: Pick<FolderState, "journaled">): Promise<CollectedFiles>;
  /** Takes a settled run's own folder away. */
  remove(request: Run): Promise<void>;
  /** Keeps a run's folder as it is now, for a child that begins with the same files. */
  snapshot(folder: string): Promise<string>;
  /** Keeps some files of a folder, for a child that begins with those. Throws a `RunFailure` for one that cannot be. */
  snapshotFiles(folder: string, paths: readonly string[]): Promise<string>;
  /** Takes away what runs have left that have settled, or are unknown. */
  removeLeftovers(isSettled: (run: Pick<RunRequest, "session" | "run">) => Promise<boolean>): Promise<void>;
}

/** The changes of one call to a run's own folder. */
export type FolderChanges = Pick<ToolOutcome, "folderRef"> & {
  /** Without what its own tool has told of. */
  changes: FileChange[];
  /** What the model has to know of it; empty where there is nothing. */
  note: string;
};

/** A call that may change files, as the folder that it is made in hears of it. */
export interface FolderCall {
  key: string;
  /** Files that it has said it will change. */
  planned: readonly string[];
}

/** The folder that a run works in, on this disk. */
export interface RunFolder {
  readonly path: string;
  /** A call begins: what it has announced is told by it, and by no other call that ends meanwhile. */
  callStarted(call: FolderCall): void;
  /**
   * A call has ended: what is in the folder now is kept where it is needed to make it anew. Null where nothing has to be
   * kept, or nothing has changed.
   */
  callEnded(call: Pick<FolderCall, "key">): Promise<FolderChanges | null>;
}

/** The files of a run's folder that are returned with its response. */
export type CollectedFiles = Pick<RunResponse, "artifacts" | "warnings">;

/** A folder that the run shares with others: no change in it is kept. */
export function sharedFolder(path: string): RunFolder {
  return { path, callStarted() {}, callEnded: async () => null };
}
