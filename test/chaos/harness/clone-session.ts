import { type Entry, EntryBody } from "@troupe/core";
import { EntryHead, type SealedEntry, sealEntry } from "@troupe/core/internal";
import { systemIds } from "@troupe/core/system";
import type { StoredRuns } from "./oracles.ts";

/** A run of a copied session. */
export interface ClonedRun {
  session: string;
  run: string;
  entries: SealedEntry[];
}

/**
 * Another session just like one that was played, under other ids, with chains of its own: for journals of a size that it
 * would take an hour to play.
 */
export function cloneSession(runs: StoredRuns, session: string): ClonedRun[] {
  const ids = systemIds();
  const originals = [...runs].filter(([, [first]]) => first?.entry.session === session);
  const names = new Map([session, ...originals.map(([run]) => run)].map((id) => [id, ids.next()]));
  const renamed = (text: string): string => [...names].reduce((now, [from, to]) => now.replaceAll(from, to), text);
  return originals.map(([run, entries]) => {
    let prev: string | null = null;
    const sealed = entries.map(({ text }) => {
      const entry = JSON.parse(renamed(text)) as Entry;
      const one = sealEntry({ ...EntryHead.parse(entry), prev }, EntryBody.parse(entry));
      prev = one.hash;
      return one;
    });
    return { session: names.get(session) ?? session, run: names.get(run) ?? run, entries: sealed };
  });
}
