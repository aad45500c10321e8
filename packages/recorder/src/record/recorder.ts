import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { type FeedItem, type Journal, TroupeError } from "@troupe/core";
import { markOf } from "./entry-check.ts";
import type { RecordProblem } from "./problem.ts";
import type { RecordStore } from "./record-store.ts";

/** Rows of this many items are written before others get the thread again. */
const batchItemsMax = 200;
const retryDelayMsMax = 5_000;
/**
 * So often the event loop goes round between two batches. Where others are at work they have most of it, and the record
 * follows a little later; where nobody is it costs nothing.
 */
const roundsBetween = 3;
/** A transaction costs as much as a dozen rows: while little comes, it is let come together for this long. */
const gatherMs = 10;

export interface Recorder {
  /** Resolves when all that is in the journal now is in the record. Rejects when the recorder has stopped short of it. */
  caughtUp(): Promise<void>;
  /** Ends the subscription after the batch that is being written. Idempotent. */
  stop(): Promise<void>;
}

export interface RecorderOptions {
  journal: Pick<Journal, "watch" | "tail">;
  record: RecordStore;
  /** Told of all that was wrong; nothing of it stops the feed except `stopped`. */
  onError?: (problem: RecordProblem) => void;
}

/**
 * Subscribes the record to the journal, from where it stopped. Rows and cursor move in one transaction, so a kill at
 * any moment, and any number of repeats, give the same rows.
 *
 * @example
 * const recorder = startRecorder({ journal, record });
 * await recorder.caughtUp();
 * await recorder.stop();
 */
export function startRecorder({ journal, record, onError = () => {} }: RecorderOptions): Recorder {
  const stopping = new AbortController();
  const { signal } = stopping;
  const waiting = new Set<() => void>();
  let isThisJournal = false;
  let ended: TroupeError | null = null;

  const take = async (items: readonly FeedItem[]): Promise<void> => {
    for (let first = 0; first < items.length && !signal.aborted; first += batchItemsMax) {
      await keep(items.slice(first, first + batchItemsMax));
      for (const check of waiting) check();
      if (items.length < batchItemsMax) await delay(gatherMs);
      for (let round = 0; round < roundsBetween; round += 1) await nextTurn();
    }
  };

  /** A full disk is waited for: the journal has everything meanwhile. */
  const keep = async (items: readonly FeedItem[]): Promise<void> => {
    for (let retryMs = 100; !signal.aborted; retryMs = Math.min(retryMs * 2, retryDelayMsMax)) {
      try {
        for (const problem of record.write(items)) onError(problem);
        return;
      } catch (thrown) {
        onError(feedProblem("stalled", thrown));
        await delay(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  };

  const follow = async (): Promise<void> => {
    const cursor = record.cursor();
    if ((await journal.tail()) < cursor.position) throw otherJournal(cursor.position);
    // Begins one item early: it has to be the one that was recorded last.
    isThisJournal = cursor.position === 0;
    for (const check of waiting) check();
    for await (const batch of journal.watch({ after: Math.max(0, cursor.position - 1), signal })) {
      const [first] = batch;
      if (!isThisJournal && first && (first.position !== cursor.position || markOf(first) !== cursor.mark)) {
        throw otherJournal(cursor.position);
      }
      isThisJournal = true;
      await take(batch);
    }
  };

  const end = (error: TroupeError): void => {
    ended = error;
    for (const check of waiting) check();
  };

  const following = follow().then(
    () => end(new TroupeError("CLOSED", "the recorder has stopped")),
    (thrown: unknown) => {
      onError(feedProblem("stopped", thrown));
      end(TroupeError.is(thrown) ? thrown : new TroupeError("INTERNAL", "the recorder has stopped", { cause: thrown }));
    },
  );

  return {
    async caughtUp() {
      const target = await journal.tail();
      await new Promise<void>((resolve, reject) => {
        const check = (): void => {
          const isThere = isThisJournal && record.cursor().position >= target;
          if (!isThere && !ended) return;
          waiting.delete(check);
          if (isThere) resolve();
          else reject(ended);
        };
        waiting.add(check);
        check();
      });
    },
    async stop() {
      stopping.abort();
      await following;
    },
  };
}

function otherJournal(position: number): TroupeError {
  const message = `the record goes to position ${position} of another journal than this one`;
  return new TroupeError("DATABASE_DAMAGED", message, {
    fix: "move troupe.db away: it is built again from the journal",
  });
}

function feedProblem(kind: "stalled" | "stopped", cause: unknown): RecordProblem {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = kind === "stalled" ? `cannot record at the moment: ${reason}` : `recording ended: ${reason}`;
  return { kind, message, session: null, run: null, index: null, position: null, cause };
}
