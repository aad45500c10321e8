import { type Blobs, type Clock, createSubjects, type Journal, type Logger, TroupeError } from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";
import { z } from "zod";
import type { NatsLink } from "../connection/link.ts";
import { createRequester } from "../connection/requester.ts";
import { createJetStreamApi } from "../jetstream/api.ts";
import { createPublisher } from "../jetstream/publisher.ts";
import { createStoredMessages } from "../jetstream/stored-messages.ts";
import { natsNames } from "../streams/names.ts";
import { positionOf, wholeSequenceAt } from "../streams/positions.ts";
import { readFeedTail } from "./feed.ts";
import { followerCheckpoints } from "./followers.ts";
import { createInboxes } from "./inboxes.ts";
import { createInvalidEntries } from "./invalid-entries.ts";
import { journalInfo } from "./journal-info.ts";
import { createOpenRuns } from "./open-runs.ts";
import { createRuns } from "./runs.ts";
import { createWatches } from "./watches.ts";

export interface NatsJournalOptions {
  link: NatsLink;
  /** @default the subjects of the namespace */
  subjects?: Subjects;
  /** @default "troupe" */
  namespace?: string;
  /** Time limit of an append's acknowledgement. After that the stream is read to find out. @default 2_000 */
  answerTimeoutMs?: number;
  /** Stores bodies over 256 KiB. It must return them byte for byte. */
  blobs: Blobs;
  clock: Clock;
  logger: Logger;
}

/** A session without an open run. */
export interface SettledSession {
  session: string;
  /** Time of the session's newest message, by the server's clock. */
  endedAtMs: number;
  /** Position of the session's newest item. */
  position: number;
}

export interface NatsJournal extends Journal {
  /** Number of messages on the journal's subjects that troupe did not write. They have no effect. */
  readonly refused: number;
  /** Sessions whose runs have all settled. */
  settledSessions(): Promise<SettledSession[]>;
  /** Position up to which each follower has stored everything. Nothing after the lowest of them may be purged. */
  followers(): Promise<{ follower: string; position: number }[]>;
  /**
   * Purges a session up to a position. A turn that started after that position stays, and so do blobs. Resolves to false,
   * without a purge, if the session has the newest item of the journal: positions must never go back.
   */
  purgeSession(session: string, through: number): Promise<boolean>;
}

/**
 * Opens the journal over an existing JetStream stream (`ensureStreams`). Each run is a subject that is written by
 * compare-and-set. An append is one message, so it is durable as a whole or not at all.
 *
 * If the acknowledgement of an append is lost, the journal reads the stream before it answers. Without a connection every
 * method rejects with `UNREACHABLE` at once, and watches wait.
 *
 * Rejects with `JOURNAL_LOST` if the stream does not exist.
 *
 * @example
 * const journal = await createNatsJournal({ link, blobs: createNatsBlobs({ link }), clock: systemClock(), logger });
 * for await (const items of journal.watch({ after: 0, signal })) console.info(items.length);
 */
export async function createNatsJournal(options: NatsJournalOptions): Promise<NatsJournal> {
  const { link, namespace, blobs, clock, logger } = options;
  const names = natsNames(namespace);
  const subjects = options.subjects ?? createSubjects(names.namespace);
  const stream = names.journal;
  const requester = createRequester({ link, clock });
  const api = createJetStreamApi(requester);
  const readId = async (): Promise<string> => (await journalInfo(api, stream)).id;
  const journalId = await readId().catch((error: unknown) => {
    requester.close();
    throw error;
  });
  const invalidEntries = createInvalidEntries(logger);
  const stored = createStoredMessages({ requester, stream });
  const publisher = createPublisher({ requester, ackTimeoutMs: options.answerTimeoutMs });
  const runs = createRuns({ link, subjects, stored, publisher, blobs, invalidEntries });
  const inboxes = createInboxes({ link, subjects, stored, publisher, blobs, invalidEntries });
  const source = { link, api, stream, journalId, subjects, clock, logger };
  const openRuns = createOpenRuns({ ...source, stored });
  const watches = createWatches({ ...source, blobs, invalidEntries });
  const readTail = (): Promise<number> => readFeedTail({ stored, subjects, runs, inboxes });
  const pending = new Set<Promise<unknown>>();
  let closed = false;

  /** Runs an operation that `close` waits for. */
  const track = <T>(work: () => Promise<T>): Promise<T> => {
    if (closed) return Promise.reject(new TroupeError("CLOSED", "the journal is closed"));
    const promise = work();
    const done = promise.catch(() => {}).finally(() => pending.delete(done));
    pending.add(done);
    return promise;
  };

  return {
    get refused() {
      return invalidEntries.count;
    },
    id: () => track(readId),
    append: (append) => track(async () => runs.append(append)),
    readRun: (session, run, from = 0) => track(async () => (await runs.read({ session, run })).texts.slice(from)),
    lastOf: (session, run) => track(() => runs.lastOf({ session, run })),
    appendInbox: (item) => track(() => inboxes.append(item)),
    readInbox: (session, afterSeq = 0) =>
      track(async () => (await inboxes.read(session, afterSeq)).map(({ seq, item }) => ({ seq, item }))),
    openRuns: (of) => track(() => openRuns.list(of?.session)),
    tail: () => track(readTail),
    watch: (watchOptions) => watches.watch(watchOptions),
    checkpoint: (follower, position) => track(async () => watches.checkpoint(follower, position)),
    settledSessions: () =>
      track(async () =>
        (await openRuns.settledSessions()).map(({ sequence, ...rest }) => ({
          ...rest,
          position: positionOf(sequence),
        })),
      ),
    followers: () =>
      track(async () =>
        (await followerCheckpoints(api, stream)).map(({ follower, sequence }) => {
          return { follower, position: positionOf(sequence) };
        }),
      ),
    purgeSession: (session, through) =>
      track(async () => {
        const sequence = wholeSequenceAt(through);
        if ((await readTail()) <= positionOf(sequence)) return false;
        // Purge the inbox first: hosts would treat requests without runs as new ones.
        for (const filter of [subjects.inbox(session), subjects.all.journalOf(session)]) {
          const request = { filter, seq: sequence + 1 };
          await api.call(`STREAM.PURGE.${stream}`, z.unknown(), { request });
        }
        for (const cache of [runs, inboxes, openRuns]) cache.forget(session, sequence);
        return true;
      }),
    async close() {
      if (closed) return;
      closed = true;
      watches.close();
      openRuns.close();
      await Promise.all(pending);
      requester.close();
    },
  };
}
