import type { ChannelMessage, ChannelUser } from "../../ports/channels.ts";
import type { OfficeDatabase } from "../database/office-database.ts";
import { freePosition } from "../database/positions.ts";
import { shortHash } from "../mail/mail-store.ts";

/** A message to store. */
export interface ChannelRecord {
  /** Unique in its channel. */
  id: string;
  channel: string;
  /** The id of a member. */
  author: string;
  text: string;
  sentMs: number;
  /** The id of the message that began the thread, for a reply. */
  thread: string | null;
  reactions: ChannelMessage["reactions"];
}

const textCharactersMax = 100_000;

export function putChannel(database: OfficeDatabase, { id, name }: { id: string; name: string }): void {
  database.run("INSERT INTO channels (id, name) VALUES (?, ?) ON CONFLICT DO NOTHING", id, name);
}

export function putMember(database: OfficeDatabase, user: ChannelUser): void {
  const { id, handle, name, email, title, timeZone, isBot } = user;
  database.run(
    `INSERT INTO members (id, handle, name, email, title, time_zone, is_bot) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET handle = excluded.handle, name = excluded.name, email = excluded.email,
       title = excluded.title, time_zone = excluded.time_zone, is_bot = excluded.is_bot`,
    ...[id, handle, name, email, title, timeZone, Number(isBot)],
  );
}

/** Stores a message. Returns false if the channel has a message with this id. */
export function addChannelMessage(database: OfficeDatabase, record: ChannelRecord): boolean {
  const { id, channel, author, sentMs, thread, reactions } = record;
  const text = record.text.slice(0, textCharactersMax);
  return database.transaction(() => {
    if (database.get("SELECT 1 FROM channel_messages WHERE channel = ? AND id = ?", channel, id)) return false;
    const position = freePosition(database, "channel_messages", sentMs);
    database.run(
      "INSERT INTO channel_messages (position, id, channel, author, text, thread, reactions) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[position, id, channel, author, text, thread, JSON.stringify(reactions)],
    );
    const scope = `${scopeToken("channel", channel)} ${scopeToken("author", author)}`;
    database.run("INSERT INTO channel_words (rowid, text, scope) VALUES (?, ?, ?)", position, text, scope);
    return true;
  });
}

/** A word of the index that only the messages of this channel or author have. */
export function scopeToken(kind: "channel" | "author", id: string): string {
  return `${kind}${shortHash(id)}`;
}
