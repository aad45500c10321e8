import type { HostDeps } from "../host-deps.ts";
import { isOver } from "../run/settled.ts";

/**
 * Takes away the folders that runs have left here: those that have settled, wherever that was, and those that no journal
 * knows any more. What is left in a worktree is committed first. Called at start; never rejects.
 */
export async function clearFolders({
  folders,
  journal,
  logger,
}: Pick<HostDeps, "folders" | "journal" | "logger">): Promise<void> {
  await folders
    ?.removeLeftovers((run) => isOver({ journal }, run))
    .catch((err: unknown) => logger.warn({ err }, "folders that runs have left could not be cleared up"));
}
