import type { ConversationItem, ConversationPage } from "@troupe/core/internal";
import type { Database } from "../../database/sqlite.ts";
import { itemsOf } from "./conversation-items.ts";
import { createEntryReader } from "./stored-entries.ts";

/** Room of a page for its items. The rest of its 1 MB is for the fields around them. */
const itemBytesMax = 1024 * 1024 - 4 * 1024;

type PageHead = Pick<ConversationPage, "session" | "agent" | "team" | "status">;

/** Reads the conversation of a run from its copied journal. */
export function createConversation(database: Database) {
  const entriesOf = createEntryReader(database);
  const head = database.prepare<[string], PageHead>(
    `SELECT r.session_id AS session, m.agent_role AS agent, r.team, r.exact_status AS status
     FROM runs r JOIN messages m ON m.id = r.message_id WHERE r.run_id = ?`,
  );

  return (run: string, { from, limit }: { from: number; limit: number }): ConversationPage | null => {
    const row = head.get(run);
    if (!row) return null;
    const items: ConversationItem[] = [];
    let next = from;
    let read = 0;
    let bytesLeft = itemBytesMax;
    let more = false;
    for (const stored of entriesOf(run, from)) {
      const found = withinPage(itemsOf(stored), stored.index);
      bytesLeft -= bytesOf(found);
      more = read >= limit || (bytesLeft < 0 && read > 0);
      if (more) break;
      items.push(...found);
      read += 1;
      next = stored.index + 1;
    }
    return { ...row, run, items, next, more };
  };
}

/** Replaces the items of one entry that need more room than a page has. */
function withinPage(items: ConversationItem[], index: number): ConversationItem[] {
  const bytes = bytesOf(items);
  const [first] = items;
  if (bytes <= itemBytesMax || !first) return items;
  const text = `This part needs ${bytes} bytes, which is more than a page has. Read entry ${index} of the run.`;
  return [{ kind: "note", index, at: first.at, text: { text, cut: null } }];
}

function bytesOf(items: readonly ConversationItem[]): number {
  return items.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(items));
}
