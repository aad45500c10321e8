import type { Tool } from "@troupe/core/tool";
import { createApplyPatchTool } from "./apply-patch.ts";
import { createEditTool } from "./edit.ts";
import { createFileToolDeps, type FileToolOptions } from "./file-tool-deps.ts";
import { createLsTool } from "./ls.ts";
import { createReadTool } from "./read.ts";
import { createWriteLocalFileTool, createWriteTool } from "./write.ts";

/**
 * Creates the tools that read and change files of a workspace: read, ls, edit, write, apply_patch and write_local_file.
 * A run can change a file only after it has read it, and only while the file still has the version that the run saw.
 *
 * @example
 * const host = createToolHost({ tools: createFileTools({ journal }) });
 */
export function createFileTools(options: FileToolOptions = {}): Tool[] {
  const deps = createFileToolDeps(options);
  return [
    createReadTool(deps),
    createLsTool(),
    createEditTool(deps),
    createWriteTool(deps),
    createApplyPatchTool(deps),
    createWriteLocalFileTool(deps),
  ];
}
