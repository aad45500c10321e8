import { type Clock, type Logger, TroupeError } from "@troupe/core";
import type { OpenRun, Subjects } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { JetStreamApi } from "../jetstream/api.ts";
import type { StoredMessages } from "../jetstream/stored-messages.ts";
import { journalInfo } from "./journal-info.ts";
import { createOrderedReader } from "./ordered-reader.ts";
import { createRunIndex, type IndexedSettledSession } from "./run-index.ts";

/** Open runs of all sessions or of one session. */
export interface OpenRuns {
  /** Up to date with the server's state at the time of the call. */
  list(session?: string): Promise<OpenRun[]>;
  settledSessions(): Promise<IndexedSettledSession[]>;
  /** Removes the part of a session that was purged: all messages up to a sequence. */
  forget(session: string, through: number): void;
  close(): void;
}

export interface OpenRunsOptions {
  link: NatsLink;
  api: JetStreamApi;
  stream: string;
  journalId: string;
  subjects: Subjects;
  stored: StoredMessages;
  clock: Clock;
  logger: Logger;
}

/** An index without a query for this long is dropped. */
const unusedMs = 120_000;
/** The key of the index over all sessions. */
const allSessions = "";

/** Keeps an index of the headers up to date for each queried session, or one for all sessions. */
export function createOpenRuns(options: OpenRunsOptions): OpenRuns {
  const { clock } = options;
  const indexes = new Map<string, LiveIndex>();
  let stopTimer: (() => void) | null = null;

  const open = (session: string): LiveIndex => {
    const found = indexes.get(session);
    if (found) return found;
    const created = createLiveIndex(options, session === allSessions ? null : session);
    indexes.set(session, created);
    stopTimer ??= clock.after(unusedMs, dropUnused);
    return created;
  };
  const drop = (session: string): void => {
    indexes.get(session)?.close();
    indexes.delete(session);
  };
  const query = async <T>(session: string, read: (index: LiveIndex) => Promise<T>): Promise<T> => {
    const index = open(session);
    try {
      return await read(index);
    } catch (error) {
      // The next query opens a new one.
      if (indexes.get(session) === index && index.hasEnded) drop(session);
      throw error;
    }
  };
  const dropUnused = (): void => {
    const nowMs = clock.monotonicMs();
    for (const [session, { queriedAtMs }] of [...indexes]) if (nowMs - queriedAtMs > unusedMs) drop(session);
    stopTimer = indexes.size > 0 ? clock.after(unusedMs, dropUnused) : null;
  };

  return {
    list(session) {
      const key = session === undefined || indexes.has(allSessions) ? allSessions : session;
      return query(key, (index) => index.openRuns(session));
    },
    settledSessions: () => query(allSessions, (index) => index.settledSessions()),
    forget(session, through) {
      for (const key of [session, allSessions]) indexes.get(key)?.forget(session, through);
    },
    close() {
      stopTimer?.();
      for (const session of [...indexes.keys()]) drop(session);
    },
  };
}

/** An index that reads the stream's headers from the first query on. */
interface LiveIndex {
  openRuns(session?: string): Promise<OpenRun[]>;
  settledSessions(): Promise<IndexedSettledSession[]>;
  forget(session: string, through: number): void;
  /** Time of the last query, by the monotonic clock. */
  readonly queriedAtMs: number;
  /** True if its reader has ended: it learns nothing more. */
  readonly hasEnded: boolean;
  close(): void;
}

/** Time limit for a message that is in the stream. */
const messageTimeoutMs = 10_000;
/** Usually the reader is up to date after this time. */
const usualDelayMs = 100;

function createLiveIndex(options: OpenRunsOptions, session: string | null): LiveIndex {
  const { api, stream, subjects, stored, clock } = options;
  const filters = session === null ? null : [subjects.all.journalOf(session), subjects.inbox(session)];
  const index = createRunIndex(subjects);
  const reader = createOrderedReader({ ...options, after: 0, headersOnly: true, ...(filters ? { filters } : {}) });
  const waiters = new Set<() => void>();
  let lastSequence = 0;
  let queriedAtMs = clock.monotonicMs();
  let ended: TroupeError | null = null;

  const checkWaiters = (): void => {
    for (const check of [...waiters]) check();
  };
  const readAll = async (): Promise<void> => {
    for (let messages = await reader.next(); messages; messages = await reader.next()) {
      for (const message of messages) index.add(message);
      lastSequence = messages.at(-1)?.sequence ?? lastSequence;
      checkWaiters();
    }
  };
  const end = (error: TroupeError): void => {
    ended = error;
    checkWaiters();
  };
  readAll().then(
    () => end(new TroupeError("CLOSED", "the journal is closed")),
    (error: unknown) => {
      const unexpected = (): TroupeError =>
        new TroupeError("INTERNAL", `${stream} cannot be followed`, { cause: error });
      end(TroupeError.is(error) ? error : unexpected());
    },
  );

  /** True if the index reaches the sequence within the time limit. */
  const waitFor = (sequence: number, timeoutMs: number): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const cancelTimeout = clock.after(timeoutMs, () => leave(() => resolve(false)));
      const leave = (settle: () => void): void => {
        cancelTimeout();
        waiters.delete(check);
        settle();
      };
      const check = (): void => {
        const error = ended;
        if (error) leave(() => reject(error));
        else if (lastSequence >= sequence) leave(() => resolve(true));
      };
      waiters.add(check);
      check();
    });
  /** Sequence of the next message to index, up to `last`. Null if none is left: purged messages never arrive. */
  const nextSequence = async (last: number): Promise<number | null> => {
    const found = await Promise.all(
      (filters ?? [">"]).map(async (subject) => (await stored.nextOf(subject, lastSequence + 1))?.sequence ?? Infinity),
    );
    const next = Math.min(...found);
    return next <= last ? next : null;
  };
  /** Waits until the index has all messages that the stream has now. Resolves to the server's time. */
  const catchUp = async (): Promise<number> => {
    queriedAtMs = clock.monotonicMs();
    const { lastSequence: last, atMs: nowMs } = await journalInfo(api, stream);
    if (lastSequence >= last || (!filters && (await waitFor(last, usualDelayMs)))) return nowMs;
    for (;;) {
      const next = await nextSequence(last);
      if (next === null) return nowMs;
      if (await waitFor(next, messageTimeoutMs)) continue;
      throw new TroupeError("TIMEOUT", `${stream} was not read up to ${next} in time`);
    }
  };

  return {
    async openRuns(onlySession) {
      return index.openRuns(await catchUp(), onlySession);
    },
    async settledSessions() {
      await catchUp();
      return index.settledSessions();
    },
    forget: (of, through) => index.forget(of, through),
    get queriedAtMs() {
      return queriedAtMs;
    },
    get hasEnded() {
      return ended !== null;
    },
    close: () => reader.close(),
  };
}
