import type { Logger } from "@troupe/core";
import { createInvalidMessages } from "@troupe/core/internal";
import type { StoredMessage } from "../jetstream/stored-messages.ts";

/** Counts messages on the journal's subjects that have no effect. They stay in the stream. */
export interface InvalidEntries {
  /** Number of invalid messages. Each message counts once. */
  readonly count: number;
  /** Counts a message, and logs the first one with each reason. */
  note(message: Pick<StoredMessage, "sequence" | "subject">, reason: string): void;
}

/** Sequences that are remembered, because several readers find the same message. */
const rememberedMax = 10_000;

export function createInvalidEntries(logger: Logger): InvalidEntries {
  const invalidMessages = createInvalidMessages();
  const seen = new Set<number>();
  return {
    get count() {
      return invalidMessages.count;
    },
    note({ sequence, subject }, reason) {
      if (seen.has(sequence)) return;
      if (seen.size >= rememberedMax) seen.clear();
      seen.add(sequence);
      if (!invalidMessages.note("foreign", subject, reason)) return;
      const { count: refused } = invalidMessages;
      logger.warn({ subject, sequence, why: reason, refused }, "message in the journal refused");
    },
  };
}
