import { randomUUID } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";

/** Much longer than the work under a lock takes. An older lock belongs to a killed process. */
const abandonedMs = 10_000;
const waitMsMax = 30_000;
const pollMs = 20;

/**
 * Runs short work while no other process holds the lock file. The work must not wait for users or other processes. The lock
 * of a killed process expires after ten seconds.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const givenUpAt = performance.now() + waitMsMax;
  while (!(await tryLock(path))) {
    if (performance.now() > givenUpAt) throw held(path);
    await breakAbandoned(path);
    await delay(pollMs);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Several processes may find the lock abandoned. The rename lets only one of them remove it. */
async function breakAbandoned(path: string): Promise<void> {
  const stats = await stat(path).catch(() => null);
  if (stats === null || Date.now() - stats.mtimeMs < abandonedMs) return;
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch(() => {});
  await rm(aside, { force: true });
}

function held(path: string): TroupeError {
  return new TroupeError("CONFLICT", `another process holds the lock ${path}`, { fix: `rm ${path}` });
}
