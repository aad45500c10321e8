import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { TroupeError } from "@troupe/core";
import { decodeText } from "@troupe/core/internal";
import { z } from "zod";
import { type Home, homeFiles } from "./home.ts";
import { isLocked } from "./lock.ts";

/** The owner of a home and its address. Contains the token, so only the user may read the file. */
export const OwnerInfo = z.object({
  /** `program`: a program that uses `createTroupe`. */
  kind: z.enum(["daemon", "run", "program"]),
  pid: z.int().positive(),
  /** Null for a program without the HTTP API. */
  url: z.url().nullable(),
  token: z.string().min(1),
  version: z.string(),
  startedAt: z.iso.datetime(),
});
export type OwnerInfo = z.infer<typeof OwnerInfo>;

const pollMs = 25;

/**
 * The owner of a home, or null if no process holds its lock; the file of a killed owner does not count. Waits up to
 * `patienceMs` for the address of an owner that is just starting, then throws `HOME_OWNED`.
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

/** Resolves when this owner has released the home. */
export async function waitForOwnerExit(home: Home, owner: OwnerInfo, signal: AbortSignal): Promise<void> {
  while (isLocked(homeFiles(home).lock)) {
    const now = await readOwner(home);
    if (now && !isSameOwner(now, owner)) return;
    await delay(4 * pollMs, undefined, { signal });
  }
}

/** True for the same process. A later process can have the same pid, so the start time counts too. */
export function isSameOwner(one: OwnerInfo, other: OwnerInfo): boolean {
  return one.pid === other.pid && one.startedAt === other.startedAt;
}

async function readOwner(home: Home): Promise<OwnerInfo | null> {
  const path = homeFiles(home).owner;
  try {
    return decodeText(OwnerInfo, await readFile(path, "utf8"), path);
  } catch {
    // Missing, or from a version with another format. The lock is held, but the owner is unknown.
    return null;
  }
}

function unknownOwner(home: Home): TroupeError {
  return new TroupeError(
    "HOME_OWNED",
    `the home ${home.path} is owned by a process that has not published its address`,
    { fix: `export TROUPE_HOME=<another folder>` },
  );
}
