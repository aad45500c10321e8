import { type FeedItem, type Journal, TroupeError } from "@troupe/core";
import { itemHash } from "./classify-entry.ts";
import type { RecordStore } from "./record-store.ts";

/** The error for a record that belongs to another journal. */
export interface ForeignJournalError {
  code: "DATABASE_DAMAGED" | "JOURNAL_LOST";
  fix: string;
}

/** The error if the journal is a file beside the record. */
export const foreignJournalFileError: ForeignJournalError = {
  code: "DATABASE_DAMAGED",
  fix: "restore a backup: troupe restore FILE   # or go on without the recorded sessions: mv troupe.db troupe.old.db",
};

/**
 * How to verify that a journal is the record's own. `none`: the record is new, so there is nothing to verify. `item`: the
 * item that was recorded last must match, if the journal still has it. `all`: the journal must still have that item.
 */
export type IdentityCheck = "none" | "item" | "all";

export interface JournalIdentity {
  /** Compares the ids and positions before anything is read. Throws if the journal cannot be the record's own. */
  begin(): Promise<IdentityCheck>;
  /** The position to read after. It is one item early, so that the feed starts with the item that was recorded last. */
  after(): number;
  /** Checks the first item of the feed. Without an error, the journal counts as the record's own from then on. */
  check(first: FeedItem): void;
}

/**
 * Verifies that a journal is the record's own: by its id, its length, and the item that was recorded last. A record of a
 * version without journal ids has only that item.
 */
export function createJournalIdentity(
  journal: Pick<Journal, "id" | "tail">,
  record: Pick<RecordStore, "cursor" | "origin" | "adopt">,
  foreign: ForeignJournalError,
): JournalIdentity {
  let id = "";
  let pending: IdentityCheck = "all";

  const refuse = (reason: string): never => {
    const message = `the record was made from another journal, up to position ${record.cursor().position}: ${reason}`;
    throw new TroupeError(foreign.code, message, { fix: foreign.fix });
  };
  const accept = (): void => {
    pending = "none";
    if (record.origin().journal === null) record.adopt(id);
  };

  return {
    async begin() {
      id = await journal.id();
      const known = record.origin().journal;
      if (known !== null && known !== id) refuse(`its id is ${known}, and the id of this journal is ${id}`);
      const tail = await journal.tail();
      const { position } = record.cursor();
      if (tail < position) refuse(`this journal ends at position ${tail}`);
      pending = known === null ? "all" : "item";
      if (position === 0) accept();
      return pending;
    },
    after: () => Math.max(0, record.cursor().position - 1),
    check(first) {
      if (pending === "none") return;
      const { position, mark } = record.cursor();
      if (first.position !== position && pending === "all") refuse("this journal has no item at that position");
      if (first.position === position && itemHash(first) !== mark) {
        refuse("this journal has a different item at that position");
      }
      accept();
    },
  };
}
