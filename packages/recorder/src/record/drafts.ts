import type { RunDraft } from "./draft.ts";
import type { DraftTable } from "./draft-table.ts";

/** Settled runs leave at once; of open ones this many stay at hand, and the others are read again when needed. */
const cachedMax = 20_000;

/** The drafts of the transaction that is being written, and of the runs that will be heard of next. */
export interface Drafts {
  get(run: string): RunDraft | null;
  set(draft: RunDraft): void;
  /** Writes what was set since the last time, in the order in which it was first set. Returns it. */
  flush(): RunDraft[];
  /** After a transaction that failed: what is in memory may never have been stored. */
  forget(): void;
}

export function createDrafts(table: DraftTable): Drafts {
  const cached = new Map<string, RunDraft>();
  const changed = new Set<string>();

  const trim = (): void => {
    for (const [run, draft] of cached) {
      if (cached.size <= cachedMax) return;
      if (!changed.has(draft.run)) cached.delete(run);
    }
  };

  return {
    get(run) {
      const known = cached.get(run) ?? table.load(run);
      if (known) cached.set(run, known);
      return known;
    },
    set(draft) {
      cached.delete(draft.run);
      cached.set(draft.run, draft);
      changed.add(draft.run);
    },
    flush() {
      const drafts = [...changed].flatMap((run) => cached.get(run) ?? []);
      for (const draft of drafts) table.save(draft);
      changed.clear();
      for (const { run, completedAt } of drafts) if (completedAt !== null) cached.delete(run);
      trim();
      return drafts;
    },
    forget() {
      cached.clear();
      changed.clear();
    },
  };
}
