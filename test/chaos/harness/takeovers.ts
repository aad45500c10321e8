import type { StoredEntry } from "./journal-stream.ts";
import type { MemberProcess } from "./member.ts";
import type { StoredRuns } from "./oracles.ts";

export interface Takeover {
  run: string;
  tookMs: number;
}

/**
 * Runs that a process held at its death, and the time until another process claimed them.
 *
 * @param notBefore time from which another host could claim them
 *
 */
export function takeoversOf(runs: StoredRuns, memberProcess: MemberProcess | null, notBefore = 0): Takeover[] {
  const diedAt = memberProcess?.endedAt;
  if (!memberProcess || typeof diedAt !== "number") return [];
  return [...runs].flatMap(([run, entries]) => {
    const next = entries.find(({ storedAt }) => storedAt > diedAt);
    const before = entries.findLast(({ storedAt }) => storedAt <= diedAt);
    if (!next || !before || !isBy(memberProcess, before) || next.entry.kind !== "run.claimed") return [];
    if (before.entry.kind === "run.parked") return [];
    return [{ run, tookMs: next.storedAt - Math.max(diedAt, notBefore) }];
  });
}

/** A host's name has its process's id in it, or is what it said when it was ready. */
export function isBy({ pid, ready }: MemberProcess, { entry }: StoredEntry): boolean {
  return entry.host === ready.host || entry.host.split(/[-_]/).includes(String(pid));
}
