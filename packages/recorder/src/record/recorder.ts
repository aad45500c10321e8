import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { type FeedItem, type Journal, TroupeError } from "@troupe/core";
import { batchFeed } from "./gathered.ts";
import { createCheckpoint } from "./kept.ts";
import type { RecordProblem } from "./problem.ts";
import type { RecordStore } from "./record-store.ts";
import { createSameJournal, type OtherJournal, otherJournalFile } from "./same-journal.ts";

/**
 * Rows of this many items are written before others get the thread again; the feed is read ahead while they are. A
 * transaction costs as much as a dozen rows: while little comes, it is let come together.
 */
const gathering = { itemsMax: 200, aheadMax: 2_000, gatherMs: 10 };
/** The item that was recorded last is there at once, or has been purged. */
const itemGraceMs = 500;
const retryDelayMsMin = 100;
const retryDelayMsMax = 5_000;
/**
 * So often the event loop goes round between two batches. Where others are at work they have most of it, and the record
 * follows a little later; where nobody is it costs nothing.
 */
const roundsBetween = 3;

export interface Recorder {
  /**
   * Resolves once it is sure that the record is a copy of this journal, or a new one. Rejects when it is another's, or
   * when the recorder was stopped before it could be told.
   */
  ready(): Promise<void>;
  /**
   * Resolves when all that is in the journal now is in the record. Rejects when the recorder has stopped short of it, and
   * when the journal cannot be read at the moment: what is missing then comes later by itself.
   */
  caughtUp(): Promise<void>;
  /** Ends the subscription after the batch that is being written. Idempotent. */
  stop(): Promise<void>;
}

export interface RecorderOptions {
  journal: Pick<Journal, "id" | "checkpoint" | "watch" | "tail">;
  record: RecordStore;
  /** What to say when the record turns out to be another journal's. @default move troupe.db away */
  whenOther?: OtherJournal;
  /** Told of all that was wrong; nothing of it stops the feed except `stopped`. */
  onError?: (problem: RecordProblem) => void;
}

/**
 * Subscribes the record to the journal, from where it stopped, under a name of its own by which the journal knows what
 * it must keep for it. Rows and cursor move in one transaction, and the journal hears of them afterwards, so a kill at
 * any moment, and any number of repeats, give the same rows. A journal that is out of reach is waited for.
 *
 * @example
 * const recorder = startRecorder({ journal, record });
 * await recorder.caughtUp();
 * await recorder.stop();
 */
export function startRecorder(options: RecorderOptions): Recorder {
  const { journal, record, whenOther = otherJournalFile, onError = () => {} } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const waiting = new Set<() => void>();
  const { follower } = record.origin();
  const same = createSameJournal(journal, record, whenOther);
  const kept = createCheckpoint({
    journal,
    follower,
    onError: (thrown) => onError(feedProblem("stalled", thrown)),
  });
  let isSame = false;
  let isOnceSame = false;
  /** Why nothing comes: for the moment, or for good. */
  let trouble: TroupeError | null = null;
  let hasEnded = false;

  const look = (): void => {
    for (const check of waiting) check();
  };
  const keepAll = async (items: readonly FeedItem[]): Promise<void> => {
    await keep(items);
    kept.note(record.cursor().position);
    look();
    for (let round = 0; round < roundsBetween; round += 1) await nextTurn();
  };

  /** A full disk is waited for: the journal has everything meanwhile. */
  const keep = async (items: readonly FeedItem[]): Promise<void> => {
    for (let retryMs = retryDelayMsMin; !signal.aborted; retryMs = Math.min(retryMs * 2, retryDelayMsMax)) {
      try {
        for (const problem of record.write(items)) onError(problem);
        return;
      } catch (thrown) {
        onError(feedProblem("stalled", thrown));
        await delay(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  };

  const agree = (): void => {
    if (isSame) return;
    isSame = true;
    isOnceSame = true;
    trouble = null;
    kept.note(record.cursor().position);
    look();
  };

  const follow = async (): Promise<void> => {
    const leaving = new AbortController();
    const until = AbortSignal.any([signal, leaving.signal]);
    const doubt = await same.begin();
    if (doubt === "none") agree();
    const trusting = doubt === "item" ? setTimeout(agree, itemGraceMs).unref() : undefined;
    try {
      const feed = journal.watch({ after: same.after(), signal: until, follower });
      for await (const batch of batchFeed(feed, gathering)) {
        if (signal.aborted) return;
        const [first] = batch;
        if (first) same.meet(first);
        agree();
        await keepAll(batch);
      }
    } finally {
      clearTimeout(trusting);
      leaving.abort();
    }
  };

  const followForEver = async (): Promise<void> => {
    for (let retryMs = retryDelayMsMin; !signal.aborted; retryMs = Math.min(retryMs * 2, retryDelayMsMax)) {
      const before = record.cursor().position;
      try {
        await follow();
        return;
      } catch (thrown) {
        if (isFinal(thrown)) throw thrown;
        isSame = false;
        trouble = toTrouble(thrown);
        look();
        if (record.cursor().position > before) retryMs = retryDelayMsMin;
        onError(feedProblem("stalled", thrown));
        await delay(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  };

  const end = (error: TroupeError): void => {
    trouble = error;
    hasEnded = true;
    look();
  };

  /** Settles as soon as it can be told. */
  const whether = (isThere: () => boolean, isHopeless: () => boolean): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      const check = (): void => {
        if (!isThere() && !isHopeless()) return;
        waiting.delete(check);
        if (isThere()) resolve();
        else reject(trouble);
      };
      waiting.add(check);
      check();
    });

  const following = followForEver().then(
    () => end(new TroupeError("CLOSED", "the recorder has stopped")),
    (thrown: unknown) => {
      onError(feedProblem("stopped", thrown));
      end(toTrouble(thrown));
    },
  );

  return {
    ready: () =>
      whether(
        () => isOnceSame,
        () => hasEnded,
      ),
    async caughtUp() {
      const target = await journal.tail();
      await whether(
        () => isSame && record.cursor().position >= target,
        () => trouble !== null,
      );
    },
    async stop() {
      stopping.abort();
      await following;
      await kept.flush();
    },
  };
}

/** Whatever else goes wrong may be better in a moment: a recorder of a daemon outlives every gap in the network. */
function isFinal(thrown: unknown): boolean {
  const codes = ["CLOSED", "DATABASE_DAMAGED", "DATABASE_TOO_NEW", "JOURNAL_LOST"];
  return TroupeError.is(thrown) && codes.includes(thrown.code);
}

function toTrouble(thrown: unknown): TroupeError {
  if (TroupeError.is(thrown)) return thrown;
  return new TroupeError("INTERNAL", "the journal cannot be read", { cause: thrown });
}

function feedProblem(kind: "stalled" | "stopped", cause: unknown): RecordProblem {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = kind === "stalled" ? `cannot record at the moment: ${reason}` : `recording ended: ${reason}`;
  return { kind, message, session: null, run: null, index: null, position: null, cause };
}
