import type { RunRequest } from "@troupe/core";
import { projectOf } from "@troupe/core/internal";

/**
 * The folder whose own tools and rules count for a run: the session's. None do for an isolated one, which may go on where
 * nobody has that folder.
 */
export function toolFolderOf(request: Pick<RunRequest, "workspace">): string | null {
  return request.workspace.mode === "isolated" ? null : projectOf(request);
}
