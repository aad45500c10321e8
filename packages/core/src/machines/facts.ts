import type { Entry, EntryBody, EntryKind } from "../protocol/entry.ts";

/** A journal entry of one kind, as the event that its machine receives. */
export type FactOf<K extends EntryKind> = Omit<Extract<EntryBody, { kind: K }>, "kind"> & { type: K; at: number };

/** Every fact that can follow a run's opening. */
export type RunFact = { [K in Exclude<EntryKind, "run.opened">]: FactOf<K> }[Exclude<EntryKind, "run.opened">];

/** Converts a journal entry into its event. */
export function toFact(entry: Entry): RunFact {
  if (entry.kind === "run.opened") throw new Error("run.opened is the machine's input, not an event");
  return { ...entry, type: entry.kind } as unknown as RunFact;
}
