import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { TroupeError } from "@troupe/core";
import { decodeText } from "@troupe/core/internal";
import { z } from "zod";
import { type Home, homeFiles } from "./home.ts";
import { isLocked } from "./lock.ts";

/** The owner of a home and its address. Holds the token: only the user may read the file. */
export const OwnerInfo = z.object({
  /** `program`: another program embeds troupe. */
  kind: z.enum(["daemon", "run", "program"]),
  pid: z.int().positive(),
  /** Null for a program that serves no HTTP API. */
  url: z.url().nullable(),
  token: z.string().min(1),
  version: z.string(),
  startedAt: z.iso.datetime(),
});
export type OwnerInfo = z.infer<typeof OwnerInfo>;

const pollMs = 25;

/**
 * The owner of a home, or null while nobody holds its lock: a file that a killed owner left behind counts for nothing.
 * One that has just started gets `patienceMs` to say where it is; then this fails with `HOME_OWNED`.
 */
export async function findOwner(
  home: Home,
  options: { patienceMs: number; signal?: AbortSignal },
): Promise<OwnerInfo | null> {
  const givenUpAt = performance.now() + options.patienceMs;
  for (;;) {
    if (!isLocked(homeFiles(home).lock)) return null;
    const owner = await readOwner(home);
    if (owner) return owner;
    options.signal?.throwIfAborted();
    if (performance.now() >= givenUpAt) throw unknownOwner(home);
    await delay(pollMs);
  }
}

/** Resolves when this owner no longer has the home. */
export async function waitForOwnerExit(home: Home, owner: OwnerInfo, signal: AbortSignal): Promise<void> {
  while (isLocked(homeFiles(home).lock)) {
    const now = await readOwner(home);
    if (now && !isSameOwner(now, owner)) return;
    await delay(4 * pollMs, undefined, { signal });
  }
}

/** Whether it is the very same process, not a later one that was given its pid. */
export function isSameOwner(one: OwnerInfo, other: OwnerInfo): boolean {
  return one.pid === other.pid && one.startedAt === other.startedAt;
}

async function readOwner(home: Home): Promise<OwnerInfo | null> {
  const path = homeFiles(home).owner;
  try {
    return decodeText(OwnerInfo, await readFile(path, "utf8"), path);
  } catch {
    // Missing, or from a version that writes it otherwise: the lock says that somebody is there, this says nobody knows who.
    return null;
  }
}

function unknownOwner(home: Home): TroupeError {
  return new TroupeError(
    "HOME_OWNED",
    `the home ${home.path} is owned by a process that does not say where it can be reached`,
    { fix: `export TROUPE_HOME=<another folder>` },
  );
}
