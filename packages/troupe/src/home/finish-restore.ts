import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Home } from "./home.ts";

/** `staged` has the names that were prepared: one that is missing now has been moved. */
const Marker = z.object({ replaced: z.string().nullable(), staged: z.array(z.string()) });

/** The files that a restore replaces. The journal is last: until it moves, the old data are whole. */
const replacedNames = [
  ...["troupe.db-wal", "troupe.db-shm", "troupe.db", "record.store", "rules.json", "policy.yaml"],
  ...["agents", "teams", "memory", "blobs", "journal.db-wal", "journal.db-shm", "journal.db"],
];
/** Settings that a backup need not have. Those of the home stay then. */
const optional: ReadonlySet<string> = new Set(["rules.json", "policy.yaml", "agents", "teams"]);

export function restoreFiles(home: Home): { staging: string; marker: string } {
  return { staging: join(home.path, "restoring"), marker: join(home.path, "restore.json") };
}

/**
 * Completes a restore whose files are prepared. Every step can be repeated, so that the next owner of the home completes
 * the restore of a killed process. Without a prepared restore it does nothing.
 */
export async function finishRestore(home: Home): Promise<void> {
  const { staging, marker } = restoreFiles(home);
  const text = await readFile(marker, "utf8").catch(() => null);
  // Without its marker, a prepared folder is of a restore that was stopped before it began.
  if (text === null) return await rm(staging, { recursive: true, force: true });
  const { replaced, staged } = Marker.parse(JSON.parse(text));
  const left = new Set(await readdir(staging).catch(() => []));
  if (replaced !== null) await mkdir(replaced, { recursive: true, mode: 0o700 });
  for (const name of replacedNames) {
    const isStaged = staged.includes(name);
    if (isStaged ? !left.has(name) : optional.has(name)) continue;
    const path = join(home.path, name);
    const aside = replaced === null ? null : join(replaced, name);
    if (aside !== null && !(await exists(aside)) && (await exists(path))) await rename(path, aside);
    if (isStaged) await rename(join(staging, name), path);
  }
  await rm(marker, { force: true });
  await rm(staging, { recursive: true, force: true });
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
