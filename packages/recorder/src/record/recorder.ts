import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { type FeedItem, type Journal, TroupeError } from "@troupe/core";
import { batchFeed } from "./batch-feed.ts";
import { createCheckpoint } from "./checkpoint.ts";
import { createJournalIdentity, type ForeignJournalError, foreignJournalFileError } from "./journal-identity.ts";
import { type RecordProblem, recorderProblem } from "./record-problem.ts";
import type { RecordStore } from "./record-store.ts";

/**
 * The largest batch bounds how long one transaction blocks the event loop. A transaction costs as much as a dozen rows,
 * so small batches wait a moment for more items.
 */
const batching = { itemsMax: 200, aheadMax: 2_000, gatherMs: 10 };
/** The journal delivers the item that was recorded last at once, unless the item was purged. */
const itemGraceMs = 500;
const retryDelayMsMin = 100;
const retryDelayMsMax = 5_000;
/**
 * Turns of the event loop between two batches. A busy process gives most of its time to other work, and the record lags a
 * little. In an idle process the turns cost nothing.
 */
const turnsBetweenBatches = 3;

export interface Recorder {
  /**
   * Resolves once the record is known to belong to this journal, or to be new. Rejects if it belongs to another journal,
   * or if the recorder stops before that is known.
   */
  ready(): Promise<void>;
  /**
   * Resolves when every item that is now in the journal has been recorded. Rejects if the recorder stops before that, or
   * if the journal cannot be read now. In the second case the recorder catches up later.
   */
  caughtUp(): Promise<void>;
  /** Ends the subscription after the current batch. Idempotent. */
  stop(): Promise<void>;
}

export interface RecorderOptions {
  journal: Pick<Journal, "id" | "checkpoint" | "watch" | "tail">;
  record: RecordStore;
  /** The error if the record belongs to another journal. @default DATABASE_DAMAGED, "restore a backup" */
  foreignJournalError?: ForeignJournalError;
  /** Receives every problem. Only a problem of kind `stopped` ends the feed. */
  onError?: (problem: RecordProblem) => void;
}

/**
 * Subscribes the record to the journal, from the position where it stopped. Rows and cursor change in one transaction, so
 * a kill at any moment, and any number of repeated items, lead to the same rows. The journal learns the recorded position
 * after each commit. If the journal is unreachable, the recorder retries.
 *
 * @example
 * const recorder = startRecorder({ journal, record });
 * await recorder.caughtUp();
 * await recorder.stop();
 */
export function startRecorder(options: RecorderOptions): Recorder {
  const { journal, record, foreignJournalError = foreignJournalFileError, onError = () => {} } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const waiting = new Set<() => void>();
  const { follower } = record.origin();
  const identity = createJournalIdentity(journal, record, foreignJournalError);
  const checkpoint = createCheckpoint({
    journal,
    follower,
    onError: (thrown) => onError(recorderProblem("stalled", thrown)),
  });
  /** The current subscription is known to be to the record's own journal. */
  let isVerified = false;
  let wasVerified = false;
  /** The reason why nothing is recorded, now or for good. */
  let failure: TroupeError | null = null;
  let hasEnded = false;

  const checkWaiting = (): void => {
    for (const check of waiting) check();
  };
  const recordBatch = async (items: readonly FeedItem[]): Promise<void> => {
    await writeWithRetry(items);
    checkpoint.note(record.cursor().position);
    checkWaiting();
    await record.moveLog().catch((thrown: unknown) => onError(recorderProblem("stalled", thrown)));
    for (let turn = 0; turn < turnsBetweenBatches; turn += 1) await nextTurn();
  };

  /** Waits while the disk is full or the file is locked: the journal keeps the items meanwhile. A damaged file ends it. */
  const writeWithRetry = async (items: readonly FeedItem[]): Promise<void> => {
    for (let retryMs = retryDelayMsMin; !signal.aborted; retryMs = Math.min(retryMs * 2, retryDelayMsMax)) {
      try {
        for (const problem of record.write(items)) onError(problem);
        return;
      } catch (thrown) {
        if (isFinal(thrown)) throw thrown;
        onError(recorderProblem("stalled", thrown));
        await delay(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  };

  /** A record of an older version has no sums of its sessions. Reports read their runs until it has. */
  const fillCosts = async (): Promise<void> => {
    try {
      while (!signal.aborted && record.fillCosts()) {
        await record.moveLog();
        for (let turn = 0; turn < turnsBetweenBatches; turn += 1) await nextTurn();
      }
    } catch (thrown) {
      onError(recorderProblem("stalled", thrown));
    }
  };

  const setVerified = (): void => {
    if (isVerified) return;
    isVerified = true;
    wasVerified = true;
    failure = null;
    checkpoint.note(record.cursor().position);
    checkWaiting();
  };

  const follow = async (): Promise<void> => {
    const leaving = new AbortController();
    const until = AbortSignal.any([signal, leaving.signal]);
    const check = await identity.begin();
    if (check === "none") setVerified();
    const grace = check === "item" ? setTimeout(setVerified, itemGraceMs).unref() : undefined;
    try {
      const feed = journal.watch({ after: identity.after(), signal: until, follower });
      for await (const batch of batchFeed(feed, batching)) {
        if (signal.aborted) return;
        const [first] = batch;
        if (first) identity.check(first);
        setVerified();
        await recordBatch(batch);
      }
    } finally {
      clearTimeout(grace);
      leaving.abort();
    }
  };

  const followWithRetry = async (): Promise<void> => {
    for (let retryMs = retryDelayMsMin; !signal.aborted; retryMs = Math.min(retryMs * 2, retryDelayMsMax)) {
      const before = record.cursor().position;
      try {
        await follow();
        return;
      } catch (thrown) {
        if (isFinal(thrown)) throw thrown;
        isVerified = false;
        failure = toFailure(thrown);
        checkWaiting();
        if (record.cursor().position > before) retryMs = retryDelayMsMin;
        onError(recorderProblem("stalled", thrown));
        await delay(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  };

  const end = (error: TroupeError): void => {
    failure = error;
    hasEnded = true;
    checkWaiting();
  };

  /** Resolves when `isDone`, and rejects with the current failure when `isHopeless`. */
  const waitUntil = (isDone: () => boolean, isHopeless: () => boolean): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      const check = (): void => {
        if (!isDone() && !isHopeless()) return;
        waiting.delete(check);
        if (isDone()) resolve();
        else reject(failure);
      };
      waiting.add(check);
      check();
    });

  const filling = fillCosts();
  const following = followWithRetry().then(
    () => end(new TroupeError("CLOSED", "the recorder has stopped")),
    (thrown: unknown) => {
      onError(recorderProblem("stopped", thrown));
      end(toFailure(thrown));
    },
  );

  return {
    ready: () =>
      waitUntil(
        () => wasVerified,
        () => hasEnded,
      ),
    async caughtUp() {
      const target = await journal.tail();
      await waitUntil(
        () => isVerified && record.cursor().position >= target,
        () => failure !== null,
      );
    },
    async stop() {
      stopping.abort();
      await following;
      await filling;
      await checkpoint.flush();
    },
  };
}

/** Every other error can be temporary: the recorder of a daemon survives every gap in the network. */
function isFinal(thrown: unknown): boolean {
  const codes = ["CLOSED", "DATABASE_DAMAGED", "DATABASE_TOO_NEW", "JOURNAL_LOST"];
  return TroupeError.is(thrown) && codes.includes(thrown.code);
}

function toFailure(thrown: unknown): TroupeError {
  if (TroupeError.is(thrown)) return thrown;
  return new TroupeError("INTERNAL", "the journal cannot be read", { cause: thrown });
}
