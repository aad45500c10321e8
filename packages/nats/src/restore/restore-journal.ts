import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import type { Logger } from "@troupe/core";
import { type Clock, TroupeError } from "@troupe/core";
import { createNatsBlobs } from "../blobs.ts";
import type { NatsLink } from "../connection/link.ts";
import { apiCodes, isApiError, jetStreamError } from "../jetstream/errors.ts";
import { createNatsJournal } from "../journal/journal.ts";
import type { StreamSettings } from "../streams/definitions.ts";
import { natsNames } from "../streams/names.ts";
import { itemsPerMessageMax } from "../streams/positions.ts";
import { ensureStreams, journalIdOf } from "../streams/streams.ts";
import { type RestoreEntriesOptions, type RestoreEntriesReport, restoreEntries } from "./restore-entries.ts";

export interface RestoreNatsJournalOptions extends Pick<RestoreEntriesOptions, "items" | "onProgress"> {
  link: NatsLink;
  /** @default "troupe" */
  namespace?: string;
  settings?: StreamSettings;
  /** What the copy is of, and the newest position that it knows. */
  copy: { journal: string; position: number };
  clock: Clock;
  logger: Logger;
}

export interface RestoreReport extends RestoreEntriesReport {
  /** Whether there was no stream, or an empty one: otherwise what it had was completed. */
  created: boolean;
}

/**
 * How many messages any other recorder can have seen beyond this copy: each restore leaves as many numbers out, and
 * there are enough of them for two thousand.
 */
const messagesUnseenMax = 2 ** 30;

/**
 * Puts a journal's stream back from a recorder's copy, under its old id and at positions that nobody has seen. Where the
 * stream is there already, begun by a restore before this one or with less in it than the copy, it is completed. One that
 * belongs to another journal is left alone: rejects with `CONFLICT` unless it is empty.
 *
 * Every daemon and worker of the namespace has to be stopped.
 */
export async function restoreNatsJournal(options: RestoreNatsJournalOptions): Promise<RestoreReport> {
  const { link, namespace, settings, copy, items, onProgress, clock, logger } = options;
  const where = { link, ...(namespace === undefined ? {} : { namespace }) };
  const created = await makeRoom(options);
  const restored = {
    journalId: copy.journal,
    after: copy.position + messagesUnseenMax * itemsPerMessageMax,
  };
  await ensureStreams({ ...where, ...(settings ? { settings } : {}), restored });
  const blobs = createNatsBlobs({ ...where, clock });
  const journal = await createNatsJournal({ ...where, blobs, clock, logger });
  try {
    const report = await restoreEntries({ journal, items, ...(onProgress ? { onProgress } : {}) });
    return { created, ...report };
  } finally {
    await journal.close();
  }
}

/** Whether the stream has to be made. An empty one that a daemon made in place of the lost one gives way. */
async function makeRoom({ link, namespace, copy }: RestoreNatsJournalOptions): Promise<boolean> {
  const { journal: stream } = natsNames(namespace);
  try {
    const manager = await jetstreamManager(link.connection);
    const found = await lookAt(manager, stream);
    if (found === null) return true;
    if (found.id === copy.journal) return false;
    if (found.messages > 0) throw belongsToAnother(stream, found, copy.journal);
    await manager.streams.delete(stream);
    return true;
  } catch (error) {
    throw jetStreamError(error, link, `looking at the stream ${stream}`);
  }
}

interface Found {
  id: string;
  messages: number;
}

async function lookAt(manager: JetStreamManager, stream: string): Promise<Found | null> {
  try {
    const info = await manager.streams.info(stream);
    return { id: journalIdOf(info), messages: info.state.messages };
  } catch (error) {
    if (isApiError(error, apiCodes.streamNotFound)) return null;
    throw error;
  }
}

function belongsToAnother(stream: string, { id, messages }: Found, wanted: string): TroupeError {
  const message = `the stream ${stream} has ${messages} messages of the journal ${id}, and the copy is of ${wanted}`;
  return new TroupeError("CONFLICT", message, {
    fix: `restore into a namespace of its own (--namespace NAME), or let go of what is there: nats stream rm ${stream}`,
  });
}
