import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { type Clock, type Logger, TroupeError } from "@troupe/core";
import { createNatsBlobs } from "../blobs.ts";
import type { NatsLink } from "../connection/link.ts";
import { apiCodes, isApiError, jetStreamError } from "../jetstream/errors.ts";
import { createNatsJournal } from "../journal/journal.ts";
import { journalIdOf, type StreamSettings } from "../streams/definitions.ts";
import { natsNames } from "../streams/names.ts";
import { itemsPerMessageMax } from "../streams/positions.ts";
import { ensureStreams } from "../streams/streams.ts";
import { type RestoreEntriesOptions, type RestoreEntriesReport, restoreEntries } from "./restore-entries.ts";

export interface RestoreNatsJournalOptions extends Pick<RestoreEntriesOptions, "items" | "onProgress"> {
  link: NatsLink;
  /** @default "troupe" */
  namespace?: string;
  settings?: StreamSettings;
  /** The journal that the copy belongs to, and the newest position in the copy. */
  copy: { journal: string; position: number };
  clock: Clock;
  logger: Logger;
}

export interface RestoreReport extends RestoreEntriesReport {
  /** True if the stream was missing or empty. False if an existing journal was completed. */
  created: boolean;
}

/**
 * How many messages another recorder can have seen beyond this copy. Each restore skips this many sequence numbers; there
 * are enough of them for two thousand restores.
 */
const messagesUnseenMax = 2 ** 30;

/**
 * Restores the journal's stream from a recorder's copy: with its old id, and at positions that no recorder has seen. An
 * existing stream of the same journal is completed, for example after an interrupted restore. Rejects with `CONFLICT` if
 * the stream has messages of another journal.
 *
 * Stop every daemon and worker of the namespace before.
 *
 * @example
 * const { items, parted } = await restoreNatsJournal({ link, copy, items: feed, clock: systemClock(), logger });
 */
export async function restoreNatsJournal(options: RestoreNatsJournalOptions): Promise<RestoreReport> {
  const { link, namespace, settings, copy, items, onProgress, clock, logger } = options;
  const target = { link, ...(namespace === undefined ? {} : { namespace }) };
  const created = await prepareStream(options);
  const restored = {
    journalId: copy.journal,
    after: copy.position + messagesUnseenMax * itemsPerMessageMax,
  };
  await ensureStreams({ ...target, ...(settings ? { settings } : {}), restored });
  const blobs = createNatsBlobs({ ...target, clock });
  const journal = await createNatsJournal({ ...target, blobs, clock, logger });
  try {
    const report = await restoreEntries({ journal, items, ...(onProgress ? { onProgress } : {}) });
    return { created, ...report };
  } finally {
    await journal.close();
  }
}

/** Deletes an empty stream that a daemon has created in place of the lost one. Resolves to true if none is left. */
async function prepareStream({ link, namespace, copy }: RestoreNatsJournalOptions): Promise<boolean> {
  const { journal: stream } = natsNames(namespace);
  try {
    const manager = await jetstreamManager(link.connection);
    const existing = await readStream(manager, stream);
    if (existing === null) return true;
    if (existing.id === copy.journal) return false;
    if (existing.messages > 0) throw otherJournal(stream, existing, copy.journal);
    await manager.streams.delete(stream);
    return true;
  } catch (error) {
    throw jetStreamError(error, link, `looking at the stream ${stream}`);
  }
}

interface ExistingStream {
  id: string;
  messages: number;
}

async function readStream(manager: JetStreamManager, stream: string): Promise<ExistingStream | null> {
  try {
    const info = await manager.streams.info(stream);
    return { id: journalIdOf(info), messages: info.state.messages };
  } catch (error) {
    if (isApiError(error, apiCodes.streamNotFound)) return null;
    throw error;
  }
}

function otherJournal(stream: string, { id, messages }: ExistingStream, wanted: string): TroupeError {
  const message = `the stream ${stream} has ${messages} messages of the journal ${id}, but the copy is of ${wanted}`;
  return new TroupeError("CONFLICT", message, {
    fix: `restore into another namespace (--namespace NAME), or delete the stream and its messages: nats stream rm ${stream}`,
  });
}
