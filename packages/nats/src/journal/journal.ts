import type { Logger } from "@troupe/core";
import { type Blobs, type Clock, createSubjects, type Journal, TroupeError } from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";
import { z } from "zod";
import type { NatsLink } from "../connection/link.ts";
import { createRequester } from "../connection/requester.ts";
import { createJetStreamApi, type JetStreamApi } from "../jetstream/api.ts";
import { createPublisher } from "../jetstream/publisher.ts";
import { createStoredMessages } from "../jetstream/stored-messages.ts";
import { natsNames } from "../streams/names.ts";
import { positionOf, wholeSequenceAt } from "../streams/positions.ts";
import { followerMarks } from "./followers.ts";
import { createInboxes } from "./inboxes.ts";
import { createInvalidEntries } from "./invalid-entries.ts";
import { journalInfo } from "./journal-info.ts";
import { createOpenRuns } from "./open-runs.ts";
import { createRuns } from "./runs.ts";
import { readTail } from "./tail.ts";
import { createWatches } from "./watches.ts";

export interface NatsJournalOptions {
  link: NatsLink;
  /** @default those of the namespace */
  subjects?: Subjects;
  /** @default "troupe" */
  namespace?: string;
  /** How long an append waits for its answer, before the stream is asked what became of it. @default 2_000 */
  answerTimeoutMs?: number;
  /** For bodies over 256 KiB. They have to come back byte for byte. */
  blobs: Blobs;
  clock: Clock;
  logger: Logger;
}

/** A session of which no run is open. */
export interface SettledSession {
  session: string;
  /** When the last was written about it, by the server's clock. */
  endedAtMs: number;
  /** Everything about it stands at positions up to this. */
  position: number;
}

export interface NatsJournal extends Journal {
  /** Messages on the journal's subjects so far that were none of troupe's, and had no effect. */
  readonly refused: number;
  /** Sessions all of whose runs have settled, and when. */
  settledSessions(): Promise<SettledSession[]>;
  /** How far each follower has everything for good. Nothing after the least of them may be let go of. */
  followers(): Promise<{ follower: string; position: number }[]>;
  /**
   * Lets go of what is stored of a session up to a position: of a turn that began after that everything stays. False
   * where it has the newest item of all, which has to stay: positions never go back. Blobs stay where they are.
   */
  purgeSession(session: string, through: number): Promise<boolean>;
}

/**
 * The journal over a JetStream stream, which has to be there (`ensureStreams`). Each run is a subject that is written by
 * compare-and-set; an append is one message, whatever it has, and so is durable as a whole or not at all.
 *
 * An append whose answer is lost is looked for in the stream before anything is said of it. Without a connection every
 * method rejects with `UNREACHABLE` at once, and watches wait.
 *
 * Rejects with `JOURNAL_LOST` where there is no such stream.
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
  const asks = createRequester({ link, clock });
  const api = createJetStreamApi(asks);
  const journalId = await idOf(api, stream).catch((error: unknown) => {
    asks.close();
    throw error;
  });
  const strays = createInvalidEntries(logger);
  const stored = createStoredMessages({ asks, stream });
  const parts = {
    link,
    subjects,
    stored,
    publisher: createPublisher({ asks, answerTimeoutMs: options.answerTimeoutMs }),
    blobs,
    strays,
  };
  const runs = createRuns(parts);
  const inboxes = createInboxes(parts);
  const source = { link, api, stream, journalId, subjects, clock, logger };
  const openRuns = createOpenRuns({ ...source, stored });
  const watches = createWatches({ ...source, blobs, strays });
  const tail = (): Promise<number> => readTail({ stored, subjects, runs, inboxes });
  const underWay = new Set<Promise<unknown>>();
  let closed = false;

  /** Closing waits for what was begun before. */
  const during = <T>(work: () => Promise<T>): Promise<T> => {
    if (closed) return Promise.reject(new TroupeError("CLOSED", "the journal is closed"));
    const promise = work();
    const done = promise.catch(() => {}).finally(() => underWay.delete(done));
    underWay.add(done);
    return promise;
  };

  return {
    get refused() {
      return strays.count;
    },
    id: () => during(() => idOf(api, stream)),
    append: (append) => during(async () => runs.append(append)),
    readRun: (session, run, from = 0) => during(async () => (await runs.read({ session, run })).texts.slice(from)),
    lastOf: (session, run) => during(() => runs.lastOf({ session, run })),
    appendInbox: (item) => during(() => inboxes.append(item)),
    readInbox: (session, afterSeq = 0) =>
      during(async () => (await inboxes.read(session, afterSeq)).map(({ seq, item }) => ({ seq, item }))),
    openRuns: (of) => during(() => openRuns.of(of?.session)),
    tail: () => during(tail),
    watch: (wanted) => watches.watch(wanted),
    checkpoint: (follower, position) => during(async () => watches.kept(follower, position)),
    settledSessions: () =>
      during(async () =>
        (await openRuns.settled()).map(({ sequence, ...rest }) => ({ ...rest, position: positionOf(sequence) })),
      ),
    followers: () =>
      during(async () =>
        (await followerMarks(api, stream)).map(({ follower, sequence }) => {
          return { follower, position: positionOf(sequence) };
        }),
      ),
    purgeSession: (session, through) =>
      during(async () => {
        const sequence = wholeSequenceAt(through);
        if ((await tail()) <= positionOf(sequence)) return false;
        // The inbox goes first: requests without their runs would be taken for new ones.
        for (const filter of [subjects.inbox(session), subjects.all.journalOf(session)]) {
          const request = { filter, seq: sequence + 1 };
          await api.call(`STREAM.PURGE.${stream}`, z.unknown(), { request });
        }
        for (const part of [runs, inboxes, openRuns]) part.forget(session, sequence);
        return true;
      }),
    async close() {
      if (closed) return;
      closed = true;
      watches.close();
      openRuns.close();
      await Promise.all(underWay);
      asks.close();
    },
  };
}

async function idOf(api: JetStreamApi, stream: string): Promise<string> {
  return (await journalInfo(api, stream)).id;
}
