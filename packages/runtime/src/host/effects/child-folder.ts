import type { RunRequest } from "@troupe/core";
import { projectOf } from "@troupe/core/internal";
import type { EffectScope } from "./effect.ts";

/**
 * The request with all that the child has to be told of where it works, which only its parent's host knows: the folder of
 * a parent that is in a worktree, and by reference the files that an isolated child begins with.
 */
export async function withFolder(request: RunRequest, scope: EffectScope): Promise<RunRequest> {
  const { workspace } = request;
  const { mode: own } = scope.request.workspace;
  if (workspace.mode === "isolated") {
    const files = await filesFor(request, scope);
    return files === null ? request : { ...request, workspace: { ...workspace, files } };
  }
  if (own !== "worktree") return request;
  const project = projectOf(scope.request);
  return { ...request, workspace: { ...workspace, path: scope.folder.path, project } };
}

/** Null where it begins with an empty folder. */
async function filesFor({ agent, contextFiles }: RunRequest, { deps, request, pin, folder }: EffectScope) {
  if (!deps.folders) return null;
  const target = pin.targets.find(({ id }) => id === agent);
  const isCopied = request.workspace.mode === "isolated" && target?.workspace !== "isolated";
  if (isCopied) return await deps.folders.snapshot(folder.path);
  return contextFiles.length === 0 ? null : await deps.folders.snapshotFiles(folder.path, contextFiles);
}
