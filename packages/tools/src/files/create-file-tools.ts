import type { Tool } from "../define-tool.ts";
import { createApplyPatchTool } from "./apply-patch.ts";
import { createEditTool } from "./edit.ts";
import { createFileToolDeps, type FileToolParts } from "./file-tool-deps.ts";
import { createLsTool } from "./ls.ts";
import { createReadTool } from "./read.ts";
import { createWriteLocalFileTool, createWriteTool } from "./write.ts";

/**
 * The tools that read and change files of a workspace. They share what they know of what each run has seen: a run
 * changes only what it has read, and only as long as nobody else has changed it.
 *
 * @example
 * const host = createToolHost({ tools: createFileTools() }); // with { journal }, runs go on knowing it after a restart
 */
export function createFileTools(parts: FileToolParts = {}): Tool[] {
  const room = createFileToolDeps(parts);
  return [
    createReadTool(room),
    createLsTool(),
    createEditTool(room),
    createWriteTool(room),
    createApplyPatchTool(room),
    createWriteLocalFileTool(room),
  ];
}
