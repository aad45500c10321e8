import type { HostDeps } from "../host-deps.ts";
import { isOpenRun } from "../run/settled.ts";

/**
 * Removes the folders of runs that have settled, on any host, and of runs that the journal does not know. Uncommitted
 * changes in a worktree are committed first. A host calls it at start. Never rejects.
 *
 * @example
 * await clearFolders(deps);
 */
export async function clearFolders({
  folders,
  journal,
  logger,
}: Pick<HostDeps, "folders" | "journal" | "logger">): Promise<void> {
  await folders
    ?.removeLeftovers(async (run) => !(await isOpenRun({ journal }, run)))
    .catch((err: unknown) => logger.warn({ err }, "folders of settled runs could not be removed"));
}
