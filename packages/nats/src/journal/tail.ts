import type { Subjects } from "@troupe/core/internal";
import type { Stored, StoredMessages } from "../jetstream/stored-messages.ts";
import { positionOf } from "../streams/positions.ts";
import type { Inboxes } from "./inboxes.ts";
import type { Runs } from "./runs.ts";

export interface TailOptions {
  stored: StoredMessages;
  subjects: Subjects;
  runs: Pick<Runs, "read">;
  inboxes: Pick<Inboxes, "readAll">;
}

/**
 * Position of the newest item of the feed. The newest message is one, unless it is none of ours; then its sequence is
 * where a look back begins.
 */
export async function readTail({ stored, subjects, runs, inboxes }: TailOptions): Promise<number> {
  const isItem = async ({ subject, sequence }: Stored): Promise<boolean> => {
    const place = subjects.parse(subject);
    if (place?.kind === "journal") return (await runs.read(place)).endSequence === sequence;
    if (place?.kind !== "inbox") return false;
    return (await inboxes.readAll(place.session)).items.at(-1)?.sequence === sequence;
  };
  const last = (await stored.lastOf(">")) ?? (await newestLeft({ stored, subjects }));
  if (!last) return 0;
  if (await isItem(last)) return positionOf(last.sequence);
  for (let window = 16, before = last.sequence; before > 1; window *= 2) {
    const from = Math.max(1, before - window);
    const messages = (await stored.allOf(">", from)).filter(({ sequence }) => sequence < before);
    for (const message of messages.reverse()) {
      if (await isItem(message)) return positionOf(message.sequence);
    }
    before = from;
  }
  return 0;
}

/** Where the newest message of all is gone, the server has to be asked for that of each kind. */
async function newestLeft({ stored, subjects }: Pick<TailOptions, "stored" | "subjects">): Promise<Stored | null> {
  const { journal, inbox } = subjects.all;
  const found = await Promise.all([journal, inbox].map((subject) => stored.lastOf(subject)));
  return found.reduce((a, b) => ((a?.sequence ?? 0) > (b?.sequence ?? 0) ? a : b));
}
