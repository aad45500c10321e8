import type { Journal } from "@troupe/core";
import type { RecordStore } from "@troupe/recorder";

/** Deletes the sessions from the record that its journal has removed: the process may have ended between the two. */
export async function forgetRemoved(journal: Journal, record: RecordStore): Promise<void> {
  const removed = (await journal.archive?.removed()) ?? [];
  if (removed.length > 0) record.remove(removed, await journal.tail());
}
