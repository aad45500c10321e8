import type { Blobs, Clock } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import type { Tool } from "../define-tool.ts";
import { createNotesTool } from "./notes.ts";
import { createRecallTool, type RecallOptions } from "./recall.ts";
import { createWorkbench } from "./workbench.ts";
import { createDownloadTool, createUploadTool } from "./workbench-tools.ts";

export interface MemoryParts extends RecallOptions {
  /** Where notes, plans and the names on workbenches are kept. */
  memoryFolder: string;
  /** @default there is no workbench */
  blobs?: Pick<Blobs, "get" | "put">;
  /** @default systemClock() */
  clock?: Clock;
}

/**
 * The tools that remember: a run's own results, a workspace's notes, a session's files.
 *
 * @example
 * const tools = createMemoryTools({ journal, blobs, memoryFolder: "/tmp/memory" });
 */
export function createMemoryTools(parts: MemoryParts): Tool[] {
  const { memoryFolder, journal, blobs, clock = systemClock() } = parts;
  const workbench = createWorkbench({ memoryFolder, journal, clock, blobs: blobs ?? noBlobs });
  return [
    createRecallTool(parts),
    createNotesTool({ memoryFolder, clock }),
    createUploadTool(workbench),
    createDownloadTool(workbench),
  ];
}

/** Where nothing is run, or nothing can be kept. */
const noBlobs: Pick<Blobs, "get" | "put"> = {
  get: async () => null,
  put: () => Promise.reject(new Error("there is no place for files here")),
};
