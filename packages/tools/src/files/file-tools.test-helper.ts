import type { Tool } from "@troupe/core/tool";
import { createFileTools } from "./create-file-tools.ts";
import type { FileToolOptions } from "./file-tool-deps.ts";

/** The file tools of one process, by name. */
export function fileTools(options: FileToolOptions = {}): Record<FileToolName, Tool> {
  return Object.fromEntries(createFileTools(options).map((tool) => [tool.spec.name, tool])) as Record<
    FileToolName,
    Tool
  >;
}

type FileToolName = "read" | "ls" | "edit" | "write" | "write_local_file" | "apply_patch";
