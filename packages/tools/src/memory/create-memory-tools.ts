import type { Blobs, Clock } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import type { Tool } from "@troupe/core/tool";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createNotesTool } from "./notes.ts";
import { createRecallTool, type RecallOptions } from "./recall.ts";
import { createWorkbench } from "./workbench.ts";
import { createDownloadTool, createUploadTool } from "./workbench-tools.ts";

export interface MemoryToolOptions extends RecallOptions {
  /** Folder of notes, plans and the file names of workbenches. */
  memoryFolder: string;
  /** Stores the files of workbenches. @default uploads and downloads fail */
  blobs?: Pick<Blobs, "get" | "put">;
  /** @default systemClock() */
  clock?: Clock;
  /** The sandbox of commands. @default a download of an executable file needs no approval of its own */
  sandbox?: Pick<Sandbox, "contains">;
}

/**
 * Creates the memory tools: recall (results of a run), notes (of a workspace) and the workbench (files of a session).
 *
 * @example
 * const tools = createMemoryTools({ journal, blobs, memoryFolder: "/tmp/memory" });
 */
export function createMemoryTools(options: MemoryToolOptions): Tool[] {
  const { memoryFolder, journal, blobs, clock = systemClock() } = options;
  const workbench = createWorkbench({ memoryFolder, journal, clock, blobs: blobs ?? noBlobs });
  return [
    createRecallTool(options),
    createNotesTool({ memoryFolder, clock }),
    createUploadTool(workbench),
    createDownloadTool(workbench, { sandbox: options.sandbox, journal }),
  ];
}

const noBlobs: Pick<Blobs, "get" | "put"> = {
  get: async () => null,
  put: () => Promise.reject(new Error("this process has no blob store")),
};
