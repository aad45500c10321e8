import type { Journal, ToolContext } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";

export interface SeenVersions {
  /** Which versions of a file the run knows; null among them is that there was no such file. Empty: it knows nothing. */
  of(context: ToolContext, real: string): Promise<ReadonlySet<string | null>>;
  note(context: ToolContext, real: string, version: string | null): void;
}

/** What one run has last seen of each file. */
interface RunSeen {
  /** By calls of this process, whose outcomes may not be in the journal yet. */
  here: Map<string, string | null>;
  /** By all of its calls that have ended, whichever process and tool it was. */
  journaled: Map<string, string | null>;
  /** Index of the first entry that has not been looked at. */
  next: number;
}

const runsMax = 500;

/**
 * What each run has last seen of each file: known from memory, and from the run's own journal, which alone is left after
 * a restart. Where the two differ both count: calls of one turn end in any order.
 */
export function createSeenVersions(journal: Pick<Journal, "readRun"> | null): SeenVersions {
  const runs = new Map<string, RunSeen>();

  const runOf = ({ session, run }: ToolContext): RunSeen => {
    const key = `${session}/${run}`;
    const found = runs.get(key) ?? { here: new Map(), journaled: new Map(), next: 0 };
    runs.delete(key);
    runs.set(key, found);
    const oldest = runs.keys().next().value;
    if (runs.size > runsMax && oldest !== undefined) runs.delete(oldest);
    return found;
  };

  const catchUp = async (seen: RunSeen, { session, run }: ToolContext): Promise<void> => {
    const from = seen.next;
    const entries = (await journal?.readRun(session, run, from)) ?? [];
    // Another call may have read the same meanwhile.
    for (const text of entries.slice(seen.next - from)) {
      const entry = openEntry(text);
      seen.next += 1;
      if (entry.kind !== "tool.finished") continue;
      for (const { path, version } of entry.outcome.seen) seen.journaled.set(path, version);
    }
  };

  return {
    async of(context, real) {
      const seen = runOf(context);
      await catchUp(seen, context);
      const known = [seen.here, seen.journaled].filter((of) => of.has(real));
      return new Set(known.map((of) => of.get(real) ?? null));
    },
    note(context, real, version) {
      runOf(context).here.set(real, version);
    },
  };
}
