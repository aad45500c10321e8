import type { Clock, Logger, RecordReader } from "@troupe/core";
import {
  type AgentStatsList,
  ageMs,
  agentHint,
  type Moment,
  momentOf,
  statsWindowMsDefault,
} from "@troupe/core/internal";
import type { AgentHints } from "@troupe/runtime";

/**
 * A changed hint changes the prompt, so that the prompt cache of a provider misses. Such caches live for about five
 * minutes, so hints change no more often.
 */
export const hintsAgeMsMax = 5 * 60_000;

/** Hints from the statistics of a record. Without a record there are none. */
export interface RecordHints extends AgentHints {
  /** Reads the statistics now, and again in the background when a run starts and they are old. Never rejects. */
  follow(record: Pick<RecordReader, "agentStats">): Promise<void>;
  stop(): void;
}

/**
 * Creates hints that answer from memory. A record that cannot be read leaves the hints as they were.
 *
 * @example
 * const hints = createRecordHints({ clock: systemClock(), logger });
 * await hints.follow(record.reader);
 * hints.hintFor({ parent: "main", agent: "coder" }); // "12 of 14 succeeded, median 40 s, $0.03"
 */
export function createRecordHints({ clock, logger }: { clock: Clock; logger: Logger }): RecordHints {
  let record: Pick<RecordReader, "agentStats"> | null = null;
  let stats: Pick<AgentStatsList, "agents" | "pairs"> = { agents: [], pairs: [] };
  let readAt: Moment = momentOf(clock);
  let cancelRead: (() => void) | null = null;

  const read = async (): Promise<void> => {
    cancelRead = null;
    // Also after a failure: a damaged record is not read at every start of a run.
    readAt = momentOf(clock);
    try {
      stats = (await record?.agentStats({ sinceMs: clock.now() - statsWindowMsDefault })) ?? stats;
    } catch (err) {
      logger.warn({ err }, "the record gives no hints about agents");
    }
  };

  return {
    hintFor(pair) {
      if (record && !cancelRead && ageMs(clock, readAt) > hintsAgeMsMax) {
        // Not at once: the start of the run that asks does not wait for the record.
        cancelRead = clock.after(0, () => void read());
      }
      return agentHint(stats, pair);
    },
    async follow(followed) {
      record = followed;
      await read();
    },
    stop() {
      record = null;
      cancelRead?.();
    },
  };
}
