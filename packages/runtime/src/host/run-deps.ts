import type { Journal } from "@troupe/core";
import { createInvalidMessages } from "@troupe/core/internal";
import { redactDeps } from "../secrets/redact-ports.ts";
import type { HostDeps } from "./host-deps.ts";
import { shareReads, withSharedInboxReads } from "./shared-reads.ts";

/** The world as a host's runs see it: they are of few sessions, and ask the same of the journal at the same time. */
export interface RunDeps extends HostDeps {
  /** Where the runs of a session stand that have entries, and no terminal one: the index of each one's newest. */
  openRunsOf(session: string): Promise<ReadonlyMap<string, number>>;
}

export function createRunDeps(given: HostDeps): RunDeps {
  const deps = redactDeps(given);
  const journal = withSharedInboxReads(deps.journal);
  const openRunsOf = shareReads<null, ReadonlyMap<string, number>>(
    (session) => readOpenRuns(journal, session),
    () => null,
  );
  const invalidMessages = deps.invalidMessages ?? createInvalidMessages();
  return { ...deps, journal, invalidMessages, openRunsOf: (session) => openRunsOf(session, null) };
}

export async function readOpenRuns(journal: Journal, session: string): Promise<ReadonlyMap<string, number>> {
  const runs = await journal.openRuns({ session });
  return new Map(runs.flatMap(({ run, lastIndex }) => (lastIndex < 0 ? [] : [[run, lastIndex] as const])));
}
