import type { Blobs, FeedItem } from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";
import type { Stored } from "../jetstream/stored-messages.ts";
import { positionOf } from "../streams/positions.ts";
import type { InvalidEntries } from "./invalid-entries.ts";
import { Recent } from "./lru-map.ts";
import { readEntries, readItem } from "./read-body.ts";
import { readHead } from "./wire.ts";

/** Turns messages, in the order of the stream, into items of the feed. */
export interface Feed {
  /** None for a message that is none of ours. Rejects where a blob cannot be read for now. */
  itemsOf(message: Stored): Promise<FeedItem[]>;
}

/** Of so many runs and inboxes it is known what comes next. Of others anything that was written by compare-and-set may. */
const knownMax = 50_000;

export function createFeed({
  subjects,
  blobs,
  strays,
}: {
  subjects: Subjects;
  blobs: Blobs;
  strays: InvalidEntries;
}): Feed {
  /** By subject: what comes next, or that nothing does. */
  const next = new Recent<number>(knownMax);
  const over = Number.POSITIVE_INFINITY;

  /** A subject that was purged begins anew. */
  const countsOn = (subject: string, index: number, { follows }: { follows: number }): boolean =>
    follows === 0 || index === (next.get(subject) ?? index);

  const entriesIn = async (message: Stored, place: { session: string; run: string }): Promise<FeedItem[] | string> => {
    const { subject, sequence } = message;
    const head = readHead(message.headers);
    if (head.kind === "foreign") return head.why;
    if (head.kind !== "entries" || !countsOn(subject, head.first, head)) return "it does not count on";
    const texts = await readEntries(message, head, place, blobs);
    if ("why" in texts) return texts.why;
    next.set(subject, head.terminal ? over : head.last + 1);
    return texts.map((text, i) => {
      const position = positionOf(sequence, texts.length - 1 - i);
      return { position, kind: "entry", ...place, index: head.first + i, text };
    });
  };
  const itemIn = async (message: Stored, session: string): Promise<FeedItem[] | string> => {
    const { subject, sequence } = message;
    const head = readHead(message.headers);
    if (head.kind === "foreign") return head.why;
    if (head.kind !== "inbox" || !countsOn(subject, head.seq, head)) return "it does not count on";
    const read = await readItem(message, head, session, blobs);
    if ("why" in read) return read.why;
    next.set(subject, head.seq + 1);
    return [{ position: positionOf(sequence), kind: "inbox", session, seq: head.seq, text: read.text }];
  };

  return {
    async itemsOf(message) {
      const place = subjects.parse(message.subject);
      const found = await (place?.kind === "journal"
        ? entriesIn(message, { session: place.session, run: place.run })
        : place?.kind === "inbox"
          ? itemIn(message, place.session)
          : "its subject is none of the journal's");
      if (typeof found !== "string") return found;
      strays.refuse(message, found);
      return [];
    },
  };
}
