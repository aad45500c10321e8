import { type CopyInspection, createCopyInspector } from "../record/journal-copy.ts";
import { readJournalItems } from "./read-items.ts";

/**
 * Reads a whole journal and checks every hash and every chain. Another process can write to the file meanwhile.
 *
 * @example
 * (await inspectJournal({ file: "/tmp/troupe/journal.db" })).damage; // []
 */
export async function inspectJournal({
  file,
  applicationId,
}: {
  file: string;
  applicationId?: number;
}): Promise<CopyInspection> {
  const inspector = createCopyInspector();
  const source = applicationId === undefined ? { file } : { file, applicationId };
  for await (const batch of readJournalItems(source)) for (const item of batch) inspector.add(item);
  return inspector.result();
}
