import { type Entry, InboxItem } from "@troupe/core";
import { decodeText, entryIsIntact, openEntry } from "@troupe/core/internal";
import { openSqlite } from "@troupe/recorder/internal";

/** All entries of a journal file, by run, in order. For looking into the home of a process that is gone. */
export function readJournalFile(file: string): Map<string, { entry: Entry; text: string }[]> {
  const database = openSqlite(file, { readOnly: true });
  const rows = database
    .prepare<[], { text: string }>("SELECT text FROM feed WHERE run IS NOT NULL ORDER BY position")
    .all();
  database.close();
  const runs = new Map<string, { entry: Entry; text: string }[]>();
  for (const { text } of rows) {
    const entry = openEntry(text);
    runs.set(entry.run, [...(runs.get(entry.run) ?? []), { entry, text }]);
  }
  return runs;
}

/** Everything that was wished of a session, in order. May be read while a process runs the home. */
export function readInboxFile(file: string, session: string): InboxItem[] {
  const database = openSqlite(file, { readOnly: true });
  const texts = database
    .prepareValue<[string], string>("SELECT text FROM feed WHERE run IS NULL AND session = ? ORDER BY idx")
    .all(session);
  database.close();
  return texts.map((text) => decodeText(InboxItem, text, "inbox item"));
}

/** Entries contiguous from 0, each intact and chained to the one before; exactly one end, and it is the last. */
export function chainProblems(entries: readonly { entry: Entry; text: string }[]): string[] {
  return entries.flatMap(({ entry, text }, i) => {
    const problems: string[] = [];
    const name = `${entry.run}#${entry.index}`;
    if (entry.index !== i) problems.push(`${name} stands at ${i}`);
    if (!entryIsIntact(text)) problems.push(`${name} was changed after it was sealed`);
    if (entry.prev !== (entries[i - 1]?.entry.hash ?? null)) problems.push(`${name} does not follow the one before`);
    if (entry.kind === "run.settled" && i !== entries.length - 1) problems.push(`${name} is followed by others`);
    return problems;
  });
}
