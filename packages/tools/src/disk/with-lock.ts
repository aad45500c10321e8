import { randomUUID } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";

/** Far longer than a file takes to be written: whoever holds it for so long was killed. */
const abandonedMs = 10_000;
const patienceMs = 30_000;
const pollMs = 20;

/**
 * Does something while no other process does the same, for what is read, changed and written in a moment: no lock to be
 * held across waiting for anybody. One that a killed process has left counts for ten seconds.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const givenUpAt = performance.now() + patienceMs;
  while (!(await taken(path))) {
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

async function taken(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Of several that find it abandoned, the rename lets one take it away. */
async function breakAbandoned(path: string): Promise<void> {
  const stats = await stat(path).catch(() => null);
  if (stats === null || Date.now() - stats.mtimeMs < abandonedMs) return;
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch(() => {});
  await rm(aside, { force: true });
}

function held(path: string): TroupeError {
  return new TroupeError("CONFLICT", `another process holds ${path}`, { fix: `rm ${path}` });
}
