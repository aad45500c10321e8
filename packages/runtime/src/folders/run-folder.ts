import type { FileChange, RunResponse, ToolOutcome } from "@troupe/core";

/** What a call has done to a run's own folder. */
export type Kept = Pick<ToolOutcome, "folderRef"> & {
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

/** Where a run works on this disk. */
export interface RunFolder {
  readonly path: string;
  /** A call begins: what it has announced is told by it, and by no other call that ends meanwhile. */
  begins(call: FolderCall): void;
  /**
   * A call has ended: what is in the folder now is kept where it is needed to make it anew. Null where nothing has to be
   * kept, or nothing has changed.
   */
  keep(call: Pick<FolderCall, "key">): Promise<Kept | null>;
}

/** What of a run's folder comes back with its response. */
export type Brought = Pick<RunResponse, "artifacts" | "warnings">;

/** A folder that is somebody else's as well: nothing of it is kept. */
export function sharedFolder(path: string): RunFolder {
  return { path, begins() {}, keep: async () => null };
}
