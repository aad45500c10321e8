import { join } from "node:path";
import type { FeedItem, Journal } from "@troupe/core";
import { openRecord, type Recorder, type RecordProblem, type RecordStore, startRecorder } from "@troupe/recorder";
import { openSqlite } from "@troupe/recorder/internal";

/** A record and its recorder, as in a daemon. */
export interface Recording {
  file: string;
  record: RecordStore;
  recorder: Recorder;
  problems: RecordProblem[];
  /** Its name as a follower of the journal. */
  follower: string;
  /** Idempotent. */
  close(): Promise<void>;
}

export async function startRecording(folder: string, name: string, journal: Journal): Promise<Recording> {
  const file = join(folder, name);
  const record = await openRecord({ file });
  const problems: RecordProblem[] = [];
  const recorder = startRecorder({
    journal,
    record,
    foreignJournalError: { code: "JOURNAL_LOST", fix: "troupe nats restore" },
    onError: (problem) => problems.push(problem),
  });
  return {
    ...{ file, record, recorder, problems },
    follower: record.origin().follower,
    async close() {
      await recorder.stop();
      record.close();
    },
  };
}

/** The journal that a record has stored. */
export async function copyOf({ record }: Pick<Recording, "record">): Promise<FeedItem[]> {
  const items: FeedItem[] = [];
  for await (const batch of record.copy.items()) items.push(...batch);
  return items;
}

/** How often each entry and each inbox item is in the file. More than once is a duplicate. */
export function countRecorded(file: string): { items: number; most: number } {
  const database = openSqlite(file, { readOnly: true });
  const row = database
    .prepare<[], { items: number; most: number }>(
      `SELECT count(*) AS items, max(times) AS most FROM (
         SELECT count(*) AS times FROM entries GROUP BY run_id, idx
         UNION ALL SELECT count(*) FROM inbox_items GROUP BY session_id, seq
       )`,
    )
    .get();
  database.close();
  return row ?? { items: 0, most: 0 };
}
