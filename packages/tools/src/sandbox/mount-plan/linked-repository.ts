import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { LinkedRepository } from "../../workspace/linked-repository.ts";
import type { ViewStep } from "./mount-plan.ts";
import { standDown, standIn } from "./placeholders.ts";

/** What commits need of the repository: neither its settings nor its hooks, nor what others have checked out. */
const writtenByCommits: readonly string[] = ["objects", "refs", "logs"];

/** What of a worktree's own says where its repository is. */
const ofWorktree: readonly string[] = ["commondir", "gitdir"];

/**
 * Shows a worktree's repository, which is elsewhere: to be read, and where commands may write everywhere in the worktree,
 * to be committed to.
 */
export async function openLinked(
  { common, own }: LinkedRepository,
  { isWritable }: { isWritable: boolean },
): Promise<{ steps: ViewStep[]; close(): Promise<void> }> {
  const steps: ViewStep[] = [{ kind: "read", path: common, type: "folder" }];
  if (!isWritable) return { steps, close: async () => {} };
  for (const name of writtenByCommits) {
    const path = join(common, name);
    if ((await lstat(path).catch(() => null))?.isDirectory()) steps.push({ kind: "write", path, type: "folder" });
  }
  const settings = join(own, "config.worktree");
  const stands = await standIn(settings, "file").catch(() => false);
  steps.push({ kind: "write", path: own, type: "folder" });
  const kept = [...ofWorktree.map((name) => join(own, name)), settings];
  for (const path of kept) {
    if ((await lstat(path).catch(() => null))?.isFile()) steps.push({ kind: "read", path, type: "file" });
  }
  return {
    steps,
    async close() {
      if (stands) await standDown(settings);
    },
  };
}
