import type { Journal } from "@troupe/core";
import { createRefusals } from "@troupe/core/internal";
import { redactedWorld } from "../secrets/redacted-world.ts";
import { shareReads, withSharedInboxReads } from "./shared-reads.ts";
import type { World } from "./world.ts";

/** The world as a host's runs see it: they are of few sessions, and ask the same of the journal at the same time. */
export interface HostWorld extends World {
  /** Where the runs of a session stand that have entries, and no terminal one: the index of each one's newest. */
  openRunsOf(session: string): Promise<ReadonlyMap<string, number>>;
}

export function createHostWorld(given: World): HostWorld {
  const world = redactedWorld(given);
  const journal = withSharedInboxReads(world.journal);
  const openRunsOf = shareReads<null, ReadonlyMap<string, number>>(
    (session) => readOpenRuns(journal, session),
    () => null,
  );
  const refusals = world.refusals ?? createRefusals();
  return { ...world, journal, refusals, openRunsOf: (session) => openRunsOf(session, null) };
}

export async function readOpenRuns(journal: Journal, session: string): Promise<ReadonlyMap<string, number>> {
  const runs = await journal.openRuns({ session });
  return new Map(runs.flatMap(({ run, lastIndex }) => (lastIndex < 0 ? [] : [[run, lastIndex] as const])));
}
