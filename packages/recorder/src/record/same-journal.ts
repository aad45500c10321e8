import { type FeedItem, type Journal, TroupeError } from "@troupe/core";
import { markOf } from "./entry-check.ts";
import type { RecordStore } from "./record-store.ts";

/** What to say of a record that belongs to another journal than the one that is there. */
export interface OtherJournal {
  code: "DATABASE_DAMAGED" | "JOURNAL_LOST";
  fix: string;
}

/** Where the journal is a file beside the record. */
export const otherJournalFile: OtherJournal = {
  code: "DATABASE_DAMAGED",
  fix: "move troupe.db away: it is built again from the journal",
};

/**
 * What speaks against a journal before anything of it is read. `none`: nothing, the record is new. `item`: the item that
 * was recorded last has to be the same, where it was not purged. `all`: that item has to be there.
 */
export type Doubt = "none" | "item" | "all";

export interface SameJournal {
  /**
   * Before anything is read: whether it can be the journal that this record is a copy of. One that is not must neither
   * be mixed in nor make anybody throw the copy away.
   */
  begin(): Promise<Doubt>;
  /** From where to read: one item early, because it has to be the one that was recorded last. */
  after(): number;
  /** Looks at the first item that is read from there, and from then on takes the journal for this record's own. */
  meet(first: FeedItem): void;
}

/**
 * Tells a record's own journal from every other: by its id, by how far it goes, and by the item that was recorded last.
 * A record from before ids were kept has only that item.
 */
export function createSameJournal(
  journal: Pick<Journal, "id" | "tail">,
  record: Pick<RecordStore, "cursor" | "origin" | "adopt">,
  other: OtherJournal,
): SameJournal {
  let id = "";
  let doubt: Doubt = "all";

  const refuse = (why: string): never => {
    const message = `the record goes to position ${record.cursor().position} of another journal: ${why}`;
    throw new TroupeError(other.code, message, { fix: other.fix });
  };
  const trust = (): void => {
    doubt = "none";
    if (record.origin().journal === null) record.adopt(id);
  };

  return {
    async begin() {
      id = await journal.id();
      const known = record.origin().journal;
      if (known !== null && known !== id) refuse(`that one's id is ${known}, and this one's is ${id}`);
      const tail = await journal.tail();
      const { position } = record.cursor();
      if (tail < position) refuse(`this one ends at ${tail}`);
      doubt = known === null ? "all" : "item";
      if (position === 0) trust();
      return doubt;
    },
    after: () => Math.max(0, record.cursor().position - 1),
    meet(first) {
      if (doubt === "none") return;
      const { position, mark } = record.cursor();
      if (first.position !== position && doubt === "all") refuse("this one has nothing there");
      if (first.position === position && markOf(first) !== mark) refuse("this one has something else there");
      trust();
    },
  };
}
